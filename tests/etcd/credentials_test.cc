// Users, their passwords and rights.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/etcd/driver_bed.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class EtcdCredentialsTest : public testing::Test {
 protected:
  EtcdCredentialsTest() { cluster_.enable_auth("secret", "app", "word", "hf/"); }

  EtcdTarget as(const std::string& user, const std::string& password) const {
    EtcdTarget target = target_of(cluster_);
    target.user = user;
    target.password = password;
    return target;
  }
  std::string endpoint() const { return cluster_.node(0).endpoint(); }

  EtcdCluster cluster_;
};

TEST_F(EtcdCredentialsTest, AUserMayUseItsPrefixAlone) {
  DriverBed bed{as("app", "word")};
  EXPECT_TRUE(get(bed.put("hf/k", "v")));
  const Error error = error_of(get(bed.put("other/k", "v")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_EQ(error.message, "etcd " + endpoint() + ": permission denied");
  EXPECT_EQ(error_of(get(bed.commit({.then = {Range{.keys = starting_with("h")}}}))).code,
            Errc::denied);
}

TEST_F(EtcdCredentialsTest, AWrongPasswordIsDeniedAtOnce) {
  DriverBed bed{as("app", "wrong-password")};
  const Error error = error_of(get(bed.put("hf/k", "v")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message, HasSubstr(endpoint()));
  EXPECT_THAT(error.message, HasSubstr("invalid user ID or password"));
  EXPECT_THAT(error.message, Not(HasSubstr("wrong-password")));
  EXPECT_EQ(error_of(get(bed.keep_alive({1}))).code, Errc::denied);
}

TEST_F(EtcdCredentialsTest, NobodyInParticularIsDenied) {
  DriverBed bed{target_of(cluster_)};
  const Error error = error_of(get(bed.put("hf/k", "v")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message, HasSubstr("user name is empty"));
}

TEST_F(EtcdCredentialsTest, AWatchWithoutTheRightIsRefused) {
  DriverBed bed{as("app", "word")};
  Ear allowed;
  Ear denied;
  bed.on_env([&] {
    bed.driver()->watch({.keys = {"hf/k"}}, allowed.on_watch());
    bed.driver()->watch({.keys = {"other/k"}}, denied.on_watch());
  });
  EXPECT_EQ(allowed.next(), "watching");
  EXPECT_THAT(denied.next(), HasSubstr("refused: etcd " + endpoint() + ": "));
  EXPECT_TRUE(get(bed.put("hf/k", "v")));
  std::string heard = allowed.next();
  // Asked for again with a new token.
  if (heard == "watching") heard = allowed.next();
  EXPECT_EQ(heard, "put hf/k=v");
}

// Tokens live in the memory of servers.
TEST_F(EtcdCredentialsTest, ATokenThatIsForgottenIsRenewed) {
  DriverBed bed{as("app", "word")};
  ASSERT_TRUE(get(bed.put("hf/k", "1")));
  ASSERT_GT(get(bed.grant({7}, Seconds{60}))->ttl, Seconds{0});
  ASSERT_EQ(get(bed.keep_alive({7}))->ttl, Seconds{60});
  Ear ear;
  bed.on_env([&] { bed.driver()->watch({.keys = {"hf/k"}}, ear.on_watch()); });
  EXPECT_EQ(ear.next(), "watching");
  cluster_.node(0).restart();
  auto answer = get(bed.put("hf/k", "2"));
  // The connection may have been found broken by this one.
  if (error_of(answer).code == Errc::unknown_outcome) answer = get(bed.put("hf/k", "2"));
  ASSERT_TRUE(answer) << error_of(answer).message;
  std::string heard = ear.next();
  while (heard == "watching") heard = ear.next();
  EXPECT_EQ(heard, "put hf/k=2");
  EXPECT_EQ(get(bed.keep_alive({7}))->ttl, Seconds{60});
}

TEST_F(EtcdCredentialsTest, ATokenOfOldUsersIsRenewed) {
  DriverBed bed{as("app", "word")};
  ASSERT_TRUE(get(bed.put("hf/k", "1")));
  cluster_.must({"role", "grant-permission", "app", "readwrite", "more/", "--prefix"});
  const auto answer = get(bed.put("more/k", "2"));
  EXPECT_TRUE(answer) << error_of(answer).message;
}

TEST_F(EtcdCredentialsTest, APasswordThatNobodyAsksForDoesNoHarm) {
  const EtcdCluster open;
  EtcdTarget target = target_of(open);
  target.user = "app";
  target.password = "word";
  DriverBed bed{target};
  const auto answer = get(bed.put("k", "v"));
  EXPECT_TRUE(answer) << error_of(answer).message;
}

}  // namespace
}  // namespace holdfast::etcd
