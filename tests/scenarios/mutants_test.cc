// Every way to break a protocol that we could name is found out: by the checker that is meant to,
// within its budget of seeds, or by a model.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "sim/seed_run.h"

namespace holdfast::sim {
namespace {

std::string models_list() {
  std::ifstream file{HOLDFAST_MODELS_LIST};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool finds(const SeedReport& report, std::string_view checker) {
  return std::ranges::any_of(
      report.violations, [&](const Violation& violation) { return violation.checker == checker; });
}

class MutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, IsFoundOut) {
  const Mutant& mutant = GetParam();
  if (mutant.seeds == 0) {
    EXPECT_NE(models_list().find(mutant.checker), std::string::npos)
        << "no model is expected to fail with " << mutant.checker;
    return;
  }
  const SeedOptions options{.protocol = find_protocol(mutant.protocol),
                            .mutant = find_mutant(mutant.name)};
  for (std::uint64_t seed = 0; seed < mutant.seeds; ++seed) {
    if (!finds(run_seed(seed, options), mutant.checker)) continue;
    std::cout << mutant.name << ": " << mutant.checker << " at seed " << seed << '\n';
    return;
  }
  ADD_FAILURE() << mutant.checker << " did not find it in " << mutant.seeds << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Named,
                         MutantTest,
                         testing::ValuesIn(mutants().begin(), mutants().end()),
                         [](const auto& param) {
                           std::string name{param.param.name};
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(MutantsTest, AreManyAndHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Mutant& mutant : mutants()) {
    names.insert(mutant.name);
    EXPECT_NE(find_protocol(mutant.protocol), nullptr) << mutant.name;
  }
  EXPECT_EQ(names.size(), mutants().size());
  EXPECT_GE(names.size(), 15U);
}

}  // namespace
}  // namespace holdfast::sim
