// The scripts decide in Lua what core/fence.cc decides in C++. Here both run side by side, on
// random operations from a seed, and have to agree in everything: outcome, wording, and what is
// remembered.

#include "engines/redis/store/store_call.h"
#include "tests/redis_store/store_bed.h"
#include "tests/redis_store/store_dice.h"

namespace holdfast::redis_store {
namespace {

constexpr int kSteps = 3000;

class AgreementTest : public StoreBed, public ::testing::WithParamInterface<int> {
 protected:
  static std::string hash(const std::string& key) {
    return redis::store_key(kPrefix, Space::values, key);
  }

  /// One operation on both.
  void step(const StoreRequest& request) {
    const StoreResult actual = other(request);
    const StoreResult expected = model_.perform(request);
    // A new version is the store's choice; it has to be higher than any before.
    const bool is_rebase = std::holds_alternative<RebaseResource>(request.operation);
    const bool is_new = expected && expected->changed && !is_rebase;
    const Versions versions = is_new ? Versions::left_out : Versions::told;
    ASSERT_EQ(describe(actual, versions), describe(expected, versions));
    if (is_new) {
      auto& known = versions_[request.key];
      const Version last = known.empty() ? Version::absent() : known.back();
      ASSERT_GT(actual->version, last);
      known.push_back(actual->version);
      model_.accept(request.key, actual->version);
    }
    ++outcomes_[expected ? (expected->applied == Applied::duplicate ? "duplicate" : "done")
                         : to_string(expected.error().code)];
    ASSERT_EQ(remembered(request.key), describe(model_.find(request.key)));
  }

  std::vector<std::string> remembered(const std::string& key) {
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

  /// Time passes for what does not last: first the value goes, then everything.
  void let_time_pass(const std::string& key) {
    using Expiry = ModelRow::Expiry;
    const ModelRow* row = model_.find(key);
    const Expiry expiry = row == nullptr ? Expiry::never : row->expiry;
    ASSERT_EQ(command({"HEXISTS", hash(key), "expires"}).integer, expiry == Expiry::never ? 0 : 1);
    // What has a fence and lasts is never forgotten by the server.
    const bool lasts = row != nullptr && expiry == Expiry::never && (row->value || row->fence);
    ASSERT_EQ(command({"PTTL", hash(key)}).integer >= 0, row != nullptr && !lasts);
    if (expiry == Expiry::to_come) {
      command({"HSET", hash(key), "expires", "1000"});
      model_.expire(key);
    } else if (expiry == Expiry::past) {
      command({"DEL", hash(key)});
      model_.forget(key);
    }
  }

  StoreModel model_;
  std::map<std::string, std::vector<Version>> versions_;
  std::map<std::string_view, int> outcomes_;
};

TEST_P(AgreementTest, ScriptsAndPureFunctionsDecideTheSame) {
  StoreDice dice{static_cast<std::uint32_t>(GetParam())};
  for (int i = 0; i < kSteps && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    step(dice.request(versions_));
    if (dice.one_in(20)) let_time_pass(dice.key());
  }
  // Or the run shows little.
  for (const std::string_view outcome : {"done",
                                         "duplicate",
                                         "stale_token",
                                         "wrong_domain",
                                         "version_conflict",
                                         "invalid_argument",
                                         "not_found"}) {
    EXPECT_GE(outcomes_[outcome], 5) << outcome;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgreementTest, ::testing::Range(1, 13));

}  // namespace
}  // namespace holdfast::redis_store
