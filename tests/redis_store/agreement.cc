#include "tests/redis_store/agreement.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/redis_store/store_dice.h"

namespace holdfast::redis_store {
namespace {

using Expiry = ModelRow::Expiry;

class Agreement {
 public:
  explicit Agreement(ComparedStore& store) : store_{store} {}

  const std::map<std::string, std::vector<Version>>& versions() const { return versions_; }
  int count(std::string_view outcome) { return outcomes_[outcome]; }

  /// One operation on both.
  void step(const StoreRequest& request) {
    const StoreResult actual = store_.perform(request);
    const StoreResult expected = model_.perform(request);
    // A new version is the store's choice; it has to be higher than any before.
    const bool is_rebase = std::holds_alternative<RebaseResource>(request.operation);
    const bool is_new = expected && expected->changed && !is_rebase;
    const Versions told = is_new ? Versions::left_out : Versions::told;
    ASSERT_EQ(describe(actual, told), describe(expected, told));
    if (is_new) accept(request.key, actual->version);
    ++outcomes_[expected ? (expected->applied == Applied::duplicate ? "duplicate" : "done")
                         : to_string(expected.error().code)];
    ASSERT_EQ(store_.remembered(request.key), describe(model_.find(request.key)));
  }

  /// Time passes for what does not last: first the value goes, then everything.
  void let_time_pass(const std::string& key) {
    const ModelRow* row = model_.find(key);
    const Expiry expiry = row == nullptr ? Expiry::never : row->expiry;
    ASSERT_EQ(store_.expires(key), expiry != Expiry::never);
    // What has a fence and lasts is never forgotten by the server.
    const bool lasts = row != nullptr && expiry == Expiry::never && (row->value || row->fence);
    ASSERT_EQ(store_.passes(key), row != nullptr && !lasts);
    if (expiry == Expiry::to_come) {
      store_.expire(key);
      model_.expire(key);
    } else if (expiry == Expiry::past) {
      store_.forget(key);
      model_.forget(key);
    }
  }

 private:
  void accept(const std::string& key, Version version) {
    auto& known = versions_[key];
    ASSERT_GT(version, known.empty() ? Version::absent() : known.back());
    known.push_back(version);
    model_.accept(key, version);
  }

  ComparedStore& store_;
  StoreModel model_;
  std::map<std::string, std::vector<Version>> versions_;
  std::map<std::string_view, int> outcomes_;
};

}  // namespace

void expect_agreement(ComparedStore& store, std::uint32_t seed, int steps) {
  StoreDice dice{seed};
  Agreement agreement{store};
  for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    agreement.step(dice.request(agreement.versions()));
    if (dice.one_in(20)) agreement.let_time_pass(dice.key());
  }
  // Or the run shows little.
  for (const std::string_view outcome : {"done",
                                         "duplicate",
                                         "stale_token",
                                         "wrong_domain",
                                         "version_conflict",
                                         "invalid_argument",
                                         "not_found"}) {
    EXPECT_GE(agreement.count(outcome), 5) << outcome;
  }
}

}  // namespace holdfast::redis_store
