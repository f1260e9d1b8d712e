// Scenes as they happen, for tests.

#pragma once

#include "lab/timeline.h"

namespace holdfast::lab {

inline constexpr std::uint64_t kTokenA = 275'451'784'700'998;
inline constexpr std::uint64_t kTokenB = 275'451'784'701'003;

/// A's write comes after B's, and nobody checks.
inline Scene late_write_accepted() {
  using std::chrono::milliseconds;
  return {.access = Access::plain,
          .events = {{milliseconds{0}, Who::a, Step::asked},
                     {milliseconds{1}, Who::a, Step::granted, {}, kTokenA},
                     {milliseconds{2}, Who::a, Step::read, 0, kTokenA},
                     {milliseconds{3}, Who::a, Step::decided, 1, kTokenA},
                     {milliseconds{4}, Who::a, Step::stopped},
                     {milliseconds{5}, Who::b, Step::asked},
                     {milliseconds{305}, Who::b, Step::granted, {}, kTokenB},
                     {milliseconds{306}, Who::b, Step::read, 0, kTokenB},
                     {milliseconds{308}, Who::b, Step::accepted, 1, kTokenB},
                     {milliseconds{310}, Who::a, Step::continued},
                     {milliseconds{315}, Who::a, Step::accepted, 1, kTokenA},
                     {milliseconds{320}, Who::a, Step::found_lost, {}, kTokenA},
                     {milliseconds{330}, Who::b, Step::released, {}, kTokenB}},
          .final_value = 1};
}

/// The same, with open before read.
inline Scene late_write_refused() {
  using std::chrono::milliseconds;
  Scene scene = late_write_accepted();
  scene.access = Access::open_first;
  scene.events[3] = {milliseconds{3}, Who::a, Step::opened, {}, kTokenA};
  scene.events[10] = {milliseconds{315}, Who::a, Step::refused, 1, kTokenA, kTokenB};
  return scene;
}

/// Both read 100, and both write 20.
inline Scene withdrawn_twice() {
  using std::chrono::milliseconds;
  return {.access = Access::plain,
          .initial = 100,
          .events = {{milliseconds{0}, Who::a, Step::read, 100},
                     {milliseconds{1}, Who::b, Step::read, 100},
                     {milliseconds{2}, Who::a, Step::accepted, 20},
                     {milliseconds{3}, Who::b, Step::accepted, 20}},
          .final_value = 20};
}

}  // namespace holdfast::lab
