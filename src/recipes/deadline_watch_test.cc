#include "recipes/deadline_watch.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kPatience{30};

TEST(DeadlineWatchTest, CallsBackOnceTheDeadlineHasPassedAndNotBefore) {
  const TimePoint deadline = BootClock::now() + 50ms;
  std::promise<TimePoint> called;
  const DeadlineWatch watch{[&] { return deadline; }, [&] { called.set_value(BootClock::now()); }};
  auto at = called.get_future();
  ASSERT_EQ(at.wait_for(kPatience), std::future_status::ready);
  EXPECT_GE(at.get(), deadline);
}

TEST(DeadlineWatchTest, FollowsADeadlineThatMoves) {
  const TimePoint first = BootClock::now() + 20ms;
  const TimePoint second = first + 40ms;
  int asked = 0;
  std::promise<TimePoint> called;
  const DeadlineWatch watch{[&] { return asked++ == 0 ? first : second; },
                            [&] { called.set_value(BootClock::now()); }};
  auto at = called.get_future();
  ASSERT_EQ(at.wait_for(kPatience), std::future_status::ready);
  EXPECT_GE(at.get(), second);
}

TEST(DeadlineWatchTest, CallsNothingAfterItsEnd) {
  bool called = false;
  {
    const DeadlineWatch watch{[] { return TimePoint::max(); }, [&] { called = true; }};
  }
  EXPECT_FALSE(called);
}

TEST(DeadlineWatchTest, MayBeEndedByItsOwnCall) {
  std::optional<DeadlineWatch> watch;
  std::promise<void> ended;
  std::promise<void> made;
  watch.emplace([] { return TimePoint::min(); },
                [&, ready = made.get_future().share()] {
                  ready.wait();
                  watch.reset();
                  ended.set_value();
                });
  made.set_value();
  EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
}

}  // namespace
}  // namespace holdfast::recipes
