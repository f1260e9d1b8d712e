#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "client/redlock_admin.h"
#include "tests/doctor/ids.h"
#include "tests/ports/redis_process.h"

namespace holdfast {
namespace {

using Ids = std::set<std::string>;

class RedlockDoctorTest : public testing::Test {
 protected:
  RedlockDoctorTest() {
    for (int i = 0; i < 3; ++i) {
      nodes_.push_back(std::make_unique<ports::RedisProcess>(
          std::vector<std::string>{"--appendonly", "yes", "--appendfsync", "always"}));
      url_ += (i == 0 ? "redlock+unix://" : ",") + nodes_.back()->socket();
    }
    url_ += "?timeout=500ms";
  }

  std::vector<std::unique_ptr<ports::RedisProcess>> nodes_;
  std::string url_;
};

TEST_F(RedlockDoctorTest, ASetThatWasFoundedIsGood) {
  EXPECT_EQ(ids(diagnose(url_)), Ids{"not_initialised"});
  const redlock::Founding founding{.longest_ttl = std::chrono::minutes{1}};
  ASSERT_TRUE(found_redlock(url_, founding, nullptr, {}));
  EXPECT_EQ(ids(diagnose(url_)), Ids{});
}

TEST_F(RedlockDoctorTest, NodesThatAreDownAreNamed) {
  const redlock::Founding founding{.longest_ttl = std::chrono::minutes{1}};
  ASSERT_TRUE(found_redlock(url_, founding, nullptr, {}));
  nodes_[1]->kill();
  const auto diagnosis = diagnose(url_);
  ASSERT_TRUE(diagnosis);
  ASSERT_EQ(diagnosis->findings.size(), 1U);
  EXPECT_NE(diagnosis->findings[0].message.find(nodes_[1]->socket()), std::string::npos);
}

TEST_F(RedlockDoctorTest, ANodeThatLostItsDataIsNamed) {
  const redlock::Founding founding{.longest_ttl = std::chrono::minutes{1}};
  ASSERT_TRUE(found_redlock(url_, founding, nullptr, {}));
  const std::string lost = nodes_[2]->socket();
  nodes_[2].reset();
  nodes_[2] = std::make_unique<ports::RedisProcess>(
      std::vector<std::string>{"--appendonly", "yes", "--appendfsync", "always"});
  url_.replace(url_.find(lost), lost.size(), nodes_[2]->socket());
  EXPECT_EQ(ids(diagnose(url_)), Ids{"not_initialised"});
}

}  // namespace
}  // namespace holdfast
