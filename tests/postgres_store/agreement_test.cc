// The schema decides in SQL what core/fence.cc decides in C++. Here both run side by side, on
// random operations from a seed, and have to agree in everything: outcome, wording, and what is
// remembered.

#include "tests/postgres_store/store_bed.h"
#include "tests/redis_store/store_dice.h"

namespace holdfast::postgres {
namespace {

using redis_store::describe;
using redis_store::ModelRow;
using redis_store::Versions;

constexpr int kSteps = 2000;

class AgreementTest : public StoreBed, public ::testing::WithParamInterface<int> {
 protected:
  /// One operation on both.
  void step(const StoreRequest& request) {
    const StoreResult actual = perform(request);
    const StoreResult expected = model_.perform(request);
    const bool is_rebase = std::holds_alternative<RebaseResource>(request.operation);
    const bool is_new = expected && expected->changed && !is_rebase;
    const Versions versions = is_new ? Versions::left_out : Versions::told;
    ASSERT_EQ(describe(actual, versions), describe(expected, versions));
    if (is_new) accept(request.key, actual->version);
    ++outcomes_[expected ? (expected->applied == Applied::duplicate ? "duplicate" : "done")
                         : to_string(expected.error().code)];
    ASSERT_EQ(remembered(request.key), describe(model_.find(request.key)));
  }

  void accept(const std::string& key, Version version) {
    auto& known = versions_[key];
    ASSERT_GT(version, known.empty() ? Version::absent() : known.back());
    known.push_back(version);
    model_.accept(key, version);
  }

  std::vector<std::string> remembered(const std::string& key) {
    const Answer answer = sql_.run(
        "SELECT (fence).* FROM holdfast.store WHERE space = 'value' AND key = $1", {kPrefix + key});
    const Rows& rows = std::get<Rows>(answer);
    std::vector<std::string> texts(9);
    for (std::size_t i = 0; !rows.empty() && i < texts.size(); ++i) {
      texts[i] = rows[0][i].value_or("");
    }
    return texts;
  }

  std::string ask_of(const std::string& what, const std::string& key) {
    return sql_.value("SELECT coalesce((SELECT " + what +
                          " FROM holdfast.store WHERE space = 'value' AND key = $1), false)",
                      {kPrefix + key});
  }

  /// Time passes for what does not last: first the value goes, then everything.
  void let_time_pass(const std::string& key) {
    using Expiry = ModelRow::Expiry;
    const ModelRow* row = model_.find(key);
    const Expiry expiry = row == nullptr ? Expiry::never : row->expiry;
    ASSERT_EQ(ask_of("expires IS NOT NULL", key), expiry == Expiry::never ? "f" : "t");
    // What has a fence and lasts is never forgotten by the server.
    const bool lasts = row != nullptr && expiry == Expiry::never && (row->value || row->fence);
    ASSERT_EQ(ask_of("forget IS NOT NULL", key), row != nullptr && !lasts ? "t" : "f");
    if (expiry == Expiry::to_come) {
      sql_.value("UPDATE holdfast.store SET expires = '1970-01-01' WHERE key = $1",
                 {kPrefix + key});
      model_.expire(key);
    } else if (expiry == Expiry::past) {
      sql_.value("DELETE FROM holdfast.store WHERE key = $1", {kPrefix + key});
      model_.forget(key);
    }
  }

  redis_store::StoreModel model_;
  std::map<std::string, std::vector<Version>> versions_;
  std::map<std::string_view, int> outcomes_;
};

TEST_P(AgreementTest, SqlAndPureFunctionsDecideTheSame) {
  redis_store::StoreDice dice{static_cast<std::uint32_t>(GetParam())};
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

INSTANTIATE_TEST_SUITE_P(Seeds, AgreementTest, ::testing::Range(1, 7));

}  // namespace
}  // namespace holdfast::postgres
