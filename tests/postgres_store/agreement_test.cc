// The schema decides in SQL what core/fence.cc decides in C++.

#include "tests/redis_store/agreement.h"
#include "tests/postgres_store/store_bed.h"

namespace holdfast::postgres {
namespace {

constexpr int kSteps = 2000;

class AgreementTest : public StoreBed,
                      public redis_store::ComparedStore,
                      public ::testing::WithParamInterface<int> {
 protected:
  StoreResult perform(const StoreRequest& request) override { return StoreBed::perform(request); }

  std::vector<std::string> remembered(const std::string& key) override {
    const Answer answer = sql_.run(
        "SELECT (fence).* FROM holdfast.store WHERE space = 'value' AND key = $1", {kPrefix + key});
    const Rows& rows = std::get<Rows>(answer);
    std::vector<std::string> texts(9);
    for (std::size_t i = 0; !rows.empty() && i < texts.size(); ++i) {
      texts[i] = rows[0][i].value_or("");
    }
    return texts;
  }

  bool expires(const std::string& key) override { return is_true("expires IS NOT NULL", key); }
  bool passes(const std::string& key) override { return is_true("forget IS NOT NULL", key); }
  void expire(const std::string& key) override {
    sql_.value("UPDATE holdfast.store SET expires = '1970-01-01' WHERE key = $1", {kPrefix + key});
  }
  void forget(const std::string& key) override {
    sql_.value("DELETE FROM holdfast.store WHERE key = $1", {kPrefix + key});
  }

 private:
  bool is_true(const std::string& what, const std::string& key) {
    return sql_.value("SELECT coalesce((SELECT " + what +
                          " FROM holdfast.store WHERE space = 'value' AND key = $1), false)",
                      {kPrefix + key}) == "t";
  }
};

TEST_P(AgreementTest, SqlAndPureFunctionsDecideTheSame) {
  expect_agreement(*this, static_cast<std::uint32_t>(GetParam()), kSteps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgreementTest, ::testing::Range(1, 7));

}  // namespace
}  // namespace holdfast::postgres
