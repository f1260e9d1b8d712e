// The engines that recipes run on: one of each kind.

#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tests/contract/contract.h"

namespace holdfast::recipes {

inline std::vector<contract::EngineUnderTest> recipe_engines() {
  constexpr std::array<std::string_view, 8> kNames{"local",
                                                   "local_prefix",
                                                   "redis",
                                                   "redlock_3",
                                                   "etcd",
                                                   "zookeeper",
                                                   "postgres",
                                                   "postgres_advisory"};
  std::vector<contract::EngineUnderTest> engines = contract::engines_under_test();
  std::erase_if(engines, [&](const contract::EngineUnderTest& engine) {
    return std::ranges::find(kNames, engine.name) == kNames.end();
  });
  return engines;
}

}  // namespace holdfast::recipes

/// Runs a suite of TEST_Ps on each of them.
#define HOLDFAST_RECIPE(suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(Engine,                                                     \
                           suite,                                                      \
                           ::testing::ValuesIn(::holdfast::recipes::recipe_engines()), \
                           ::holdfast::contract::engine_name)
