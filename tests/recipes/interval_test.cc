// A job that runs at most once per interval: who holds the interval, and for how long.

#include "holdfast/interval.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <future>

#include "holdfast/async_interval.h"
#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

class IntervalContract : public ContractTest {
 protected:
  /// What the engine cannot do, it says.
  bool can_hold_intervals() {
    const AcquireOptions detached{.kind = LeaseKind::detached};
    if (can(&Capabilities::detached, detached)) return true;
    EXPECT_EQ(begin(60s).error().code, Errc::unsupported);
    return false;
  }

  Result<IntervalRun, IntervalError> begin(Millis interval, Millis wait = Millis{0}) {
    return at_most_every(interval, client(), {"job"}, {.wait = wait});
  }

  /// Also if somebody who waits for the job holds it for a moment.
  void wait_for_end_of_interval() {
    EXPECT_TRUE(
        eventually([&] { return client().inspect(interval_lock("job"))->holders.empty(); }));
  }

  /// Short, and long enough that nothing the test does takes as long.
  Millis brief() const { return std::max<Millis>(GetParam().ttl_min, 3s); }
};
HOLDFAST_CONTRACT(IntervalContract);

TEST_P(IntervalContract, InsideTheIntervalItIsNotDue) {
  if (!can_hold_intervals()) return;
  auto run = begin(60s);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(client().inspect("job")->holders.at(0).token, run->token());
  EXPECT_EQ(run->finish(), ReleaseOutcome::released);
  EXPECT_TRUE(client().inspect("job")->holders.empty());
  EXPECT_EQ(client().inspect(interval_lock("job"))->holders.size(), 1U);
  const auto early = begin(60s);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::busy);
  ASSERT_TRUE(early.error().due_in);
  EXPECT_GT(*early.error().due_in, 0s);
  EXPECT_LE(*early.error().due_in, 61s);
}

TEST_P(IntervalContract, TheIntervalOutlivesWhoeverTookIt) {
  if (!can_hold_intervals()) return;
  {
    Client other = reconnect();
    ASSERT_TRUE(at_most_every(60s, other, {"job"}));
  }
  EXPECT_EQ(begin(60s).error().code, Errc::busy);
  EXPECT_TRUE(client().try_acquire("job"));
}

TEST_P(IntervalContract, WhenItIsOverTheJobIsDue) {
  if (!can_hold_intervals()) return;
  const Millis interval = brief();
  const TimePoint before = BootClock::now();
  auto first = begin(interval);
  ASSERT_TRUE(first) << first.error().message;
  const Token token = first->token();
  first->finish();
  auto second = begin(interval, kPatience);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_GE(BootClock::now() - before, interval - interval / 50);
  EXPECT_GT(second->token(), token);
}

TEST_P(IntervalContract, WhoForgetsItsRunLetsTheNextOneBegin) {
  if (!can_hold_intervals()) return;
  auto run = begin(60s);
  ASSERT_TRUE(run);
  const auto forgotten = run->forget();
  ASSERT_TRUE(forgotten);
  EXPECT_EQ(*forgotten, ReleaseOutcome::released);
  EXPECT_TRUE(begin(60s));
}

TEST_P(IntervalContract, ARunLongerThanItsIntervalKeepsTheNextOneOut) {
  if (!can_hold_intervals()) return;
  const Millis interval = brief();
  auto run = begin(interval);
  ASSERT_TRUE(run);
  wait_for_end_of_interval();
  const auto refused = begin(interval);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_EQ(refused.error().due_in, std::nullopt) << "it is due, and being run";
  EXPECT_TRUE(run->lease().ensure_held());
  EXPECT_TRUE(client().inspect(interval_lock("job"))->holders.empty()) << "given back";
  run->finish();
  EXPECT_TRUE(begin(interval));
}

TEST_P(IntervalContract, WhoWaitsBeginsWhenARunLongerThanItsIntervalEnds) {
  if (!can_hold_intervals()) return;
  const Millis interval = brief();
  auto run = begin(interval);
  ASSERT_TRUE(run);
  const Token token = run->token();
  auto next = std::async(std::launch::async, [&] { return begin(interval, kPatience); });
  wait_for_end_of_interval();
  EXPECT_TRUE(run->lease().ensure_held());
  EXPECT_NE(next.wait_for(0s), std::future_status::ready);
  run->finish();
  const auto begun = next.get();
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_GT(begun->token(), token);
  EXPECT_EQ(client().inspect(interval_lock("job"))->holders.size(), 1U) << "begun anew";
}

TEST_P(IntervalContract, SeveralNamesHaveTheIntervalOfTheFirst) {
  if (!can_hold_intervals()) return;
  auto run = at_most_every(60s, client(), {"job", "data"});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->token(), run->lease().token("job"));
  EXPECT_FALSE(client().try_acquire("data"));
  run->finish();
  EXPECT_EQ(begin(60s).error().code, Errc::busy);
  EXPECT_TRUE(at_most_every(60s, client(), {"data"}));
}

TEST_P(IntervalContract, WrongIntervalsAreRefusedAndNothingIsTouched) {
  EXPECT_EQ(begin(99ms).error().code, Errc::invalid_argument);
  EXPECT_EQ(begin(25h).error().code, Errc::invalid_argument);
  EXPECT_EQ(at_most_every(60s, client(), {}).error().code, Errc::invalid_argument);
  EXPECT_EQ(at_most_every(60s, client(), {std::string(510, 'x')}).error().code,
            Errc::invalid_argument);
  EXPECT_TRUE(client().list()->empty());
}

boost::asio::awaitable<void> run_twice(Client client, std::vector<std::string>& story) {
  const std::vector<std::string> names{"job"};
  for (int i = 0; i < 2; ++i) {
    auto run = co_await async_at_most_every(60s, client, names);
    story.push_back(run ? "ran" : std::string{to_string(run.error().code)});
  }
}

TEST_P(IntervalContract, CoroutinesRunItOnceToo) {
  if (!can_hold_intervals()) return;
  boost::asio::io_context context;
  std::vector<std::string> story;
  boost::asio::co_spawn(context, run_twice(client(), story), boost::asio::detached);
  context.run();
  EXPECT_EQ(story, (std::vector<std::string>{"ran", "busy"}));
}

}  // namespace
}  // namespace holdfast::contract
