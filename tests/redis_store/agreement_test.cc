// The scripts decide in Lua what core/fence.cc decides in C++.

#include "tests/redis_store/agreement.h"

#include "engines/redis/store/store_call.h"
#include "tests/redis_store/store_bed.h"

namespace holdfast::redis_store {
namespace {

constexpr int kSteps = 3000;

class AgreementTest : public StoreBed,
                      public ComparedStore,
                      public ::testing::WithParamInterface<int> {
 protected:
  static std::string hash(const std::string& key) {
    return redis::store_key(kPrefix, Space::values, key);
  }

  StoreResult perform(const StoreRequest& request) override { return other(request); }

  std::vector<std::string> remembered(const std::string& key) override {
    const auto reply = command({"HMGET",
                                hash(key),
                                "domain",
                                "policy",
                                "exclusive",
                                "exclusive_owner",
                                "any",
                                "any_owner",
                                "sequence",
                                "written",
                                "written_sequence"});
    std::vector<std::string> texts;
    for (const auto& item : reply.items) texts.push_back(item.text);
    return texts;
  }

  bool expires(const std::string& key) override {
    return command({"HEXISTS", hash(key), "expires"}).integer == 1;
  }
  bool passes(const std::string& key) override { return command({"PTTL", hash(key)}).integer >= 0; }
  void expire(const std::string& key) override { command({"HSET", hash(key), "expires", "1000"}); }
  void forget(const std::string& key) override { command({"DEL", hash(key)}); }
};

TEST_P(AgreementTest, ScriptsAndPureFunctionsDecideTheSame) {
  expect_agreement(*this, static_cast<std::uint32_t>(GetParam()), kSteps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgreementTest, ::testing::Range(1, 13));

}  // namespace
}  // namespace holdfast::redis_store
