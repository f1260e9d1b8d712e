// Several locks at once: all or none, never in a circle, lost together.

#include "holdfast/multi_lock.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <thread>

#include "holdfast/async_multi_lock.h"
#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using Names = std::vector<std::string>;
using AcquiredAll = Result<MultiLease, AcquireError>;

class MultiLockContract : public ContractTest {
 protected:
  MultiLockContract() = default;

  bool is_free(const std::string& name) { return client().try_acquire(name).has_value(); }

  /// On a thread and with a connection of its own.
  std::future<AcquiredAll> begin(Names names,
                                 const AcquireOptions& options,
                                 std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, names, options, stop] {
      Client other = reconnect();
      return acquire_all(other, names, options, stop);
    });
  }
};
HOLDFAST_CONTRACT(MultiLockContract);

TEST_P(MultiLockContract, EveryNameHasATokenOfItsOwn) {
  auto lease = acquire_all(client(), {"b", "a", "c", "a"});
  ASSERT_TRUE(lease) << lease.error().message;
  ASSERT_EQ(lease->leases().size(), 3U) << "a name that is given twice is taken once";
  for (const std::string name : {"a", "b", "c"}) {
    const LockInfo info = *client().inspect(name);
    ASSERT_EQ(info.holders.size(), 1U) << name;
    EXPECT_EQ(info.holders.front().token, lease->token(name)) << name;
    EXPECT_FALSE(is_free(name));
  }
  EXPECT_EQ(lease->token("d"), std::nullopt);
  EXPECT_EQ(lease->state(), LeaseState::held);
  EXPECT_TRUE(lease->ensure_held());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_FALSE(lease->ensure_held());
  for (const std::string name : {"a", "b", "c"}) EXPECT_TRUE(is_free(name)) << name;
}

TEST_P(MultiLockContract, TheDestructorReleasesAll) {
  { ASSERT_TRUE(acquire_all(client(), {"a", "b"})); }
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_P(MultiLockContract, OneAttemptTakesAllOrNone) {
  Client other = reconnect();
  auto in_the_way = other.acquire("b");
  ASSERT_TRUE(in_the_way);
  const auto refused = try_acquire_all(client(), {"a", "b", "c"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->token, in_the_way->token());
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("c"));
}

// Who waits holds what comes before, so that nobody overtakes it there, and nothing that comes
// after, so that nobody waits for it in a circle.
TEST_P(MultiLockContract, WhoWaitsHoldsOnlyWhatComesBefore) {
  auto in_the_way = client().acquire("b");
  ASSERT_TRUE(in_the_way);
  auto waiting = begin({"c", "b", "a"}, {.wait = kPatience});
  ASSERT_TRUE(wait_for_holders("a", 1));
  EXPECT_TRUE(eventually([&] { return is_free("c"); }));
  EXPECT_FALSE(is_free("a"));
  in_the_way->release();
  auto lease = waiting.get();
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_TRUE(lease->ensure_held());
  for (const std::string name : {"a", "b", "c"}) EXPECT_FALSE(is_free(name)) << name;
}

TEST_P(MultiLockContract, WhoWaitedInVainHoldsNothing) {
  auto in_the_way = client().acquire("b");
  ASSERT_TRUE(in_the_way);
  const auto refused = begin({"a", "b", "c"}, {.wait = 300ms}).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("c"));
}

TEST_P(MultiLockContract, WhoIsCancelledHoldsNothing) {
  auto in_the_way = client().acquire("b");
  ASSERT_TRUE(in_the_way);
  std::stop_source stop;
  auto waiting = begin({"a", "b"}, {}, stop.get_token());
  ASSERT_TRUE(wait_for_holders("a", 1));
  stop.request_stop();
  const auto refused = waiting.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::cancelled);
  EXPECT_TRUE(is_free("a"));
}

TEST_P(MultiLockContract, TheDeadlineIsTheEarliest) {
  auto lease = acquire_all(client(), {"a", "b", "c"}, {.ttl = 60s});
  ASSERT_TRUE(lease);
  TimePoint earliest = TimePoint::max();
  for (const Lease& one : lease->leases()) earliest = std::min(earliest, one.valid_until());
  EXPECT_LE(lease->valid_until(), earliest);
  EXPECT_GT(lease->valid_for(), Duration{0});
  EXPECT_LE(lease->valid_for(), 60s);
}

TEST_P(MultiLockContract, TheLossOfOneIsTheLossOfAll) {
  const Millis ttl = std::max<Millis>(GetParam().ttl_min, 3s);
  auto lease = acquire_all(client(), {"a", "b", "c"}, {.ttl = ttl});
  ASSERT_TRUE(lease);
  const std::stop_token stop = lease->stop_token();
  EXPECT_FALSE(stop.stop_requested());
  ASSERT_TRUE(client().break_lock("b", "for the test"));
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_EQ(lease->state(), LeaseState::lost);
  EXPECT_NE(lease->loss_reason(), LossReason::none);
  const auto held = lease->ensure_held();
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Errc::lost);
  // Where locks of one session stand and fall together, others may be lost with it.
  const auto first = std::ranges::find(lease->leases(), LeaseState::lost, &Lease::state);
  EXPECT_TRUE(held.error().message.starts_with('"' + first->name() + '"')) << held.error().message;
  EXPECT_EQ(lease->find("b")->state(), LeaseState::lost);
  EXPECT_EQ(lease->valid_for(), Duration{0});
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("c"));
}

// Each brings the same names in another order, and counts at each of them without any other guard.
TEST_P(MultiLockContract, OppositeOrdersNeverWaitInACircle) {
  constexpr int kRounds = 5;
  const std::vector<Names> orders{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a"}, {"c", "a"}};
  std::map<std::string, int> inside{{"a", 0}, {"b", 0}, {"c", 0}};
  std::atomic<int> violations{0};
  const auto work = [&](const Names& names) {
    Client other = reconnect();
    for (int round = 0; round < kRounds; ++round) {
      auto lease = acquire_all(other, names, {.wait = kPatience});
      ASSERT_TRUE(lease) << lease.error().message;
      for (const std::string& name : names) violations += inside[name]++ == 0 ? 0 : 1;
      for (const std::string& name : names) --inside[name];
    }
  };
  {
    std::vector<std::jthread> crowd;
    for (const Names& names : orders) crowd.emplace_back(work, names);
  }
  EXPECT_EQ(violations, 0);
}

// The first of them would have ended long before the last was to be had.
TEST_P(MultiLockContract, DetachedLeasesAreKeptAliveWhileOthersAreWaitedFor) {
  const AcquireOptions options{.ttl = std::max<Millis>(GetParam().ttl_min, 2s),
                               .wait = kPatience,
                               .kind = LeaseKind::detached};
  if (!can(&Capabilities::detached, options)) return;
  auto in_the_way = client().acquire("b");
  ASSERT_TRUE(in_the_way);
  auto waiting = begin({"a", "b"}, options);
  ASSERT_TRUE(wait_for_holders("a", 1));
  const Token first = client().inspect("a")->holders.front().token;
  const TimePoint enough = BootClock::now() + options.ttl * 3 / 2;
  ASSERT_TRUE(eventually([&] { return BootClock::now() > enough; }));
  in_the_way->release();
  auto lease = waiting.get();
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(lease->token("a"), first);
  EXPECT_TRUE(lease->renew());
  EXPECT_TRUE(lease->detach());
}

TEST_P(MultiLockContract, WrongNamesAreRefusedAndNothingIsTouched) {
  const auto code = [&](Names names) {
    const auto refused = acquire_all(client(), std::move(names));
    return refused ? std::optional<Errc>{} : refused.error().code;
  };
  EXPECT_EQ(code({}), Errc::invalid_argument);
  EXPECT_EQ(code({"a", ""}), Errc::invalid_argument);
  Names many;
  for (std::size_t i = 0; i <= kNamesMax; ++i) many.push_back("name" + std::to_string(i));
  EXPECT_EQ(code(many), Errc::invalid_argument);
  EXPECT_TRUE(client().list()->empty());
  many.pop_back();
  EXPECT_EQ(code(many), std::nullopt);
}

boost::asio::awaitable<void> take_and_release(Client client, std::vector<std::string>& story) {
  const Names names{"b", "a"};
  auto lease = co_await async_acquire_all(client, names, {.wait = kPatience});
  story.push_back(lease ? "held" : lease.error().message);
  if (!lease) co_return;
  Client other = client;
  auto refused = co_await async_acquire_all(other, names, {.wait = Millis{0}});
  story.push_back(refused ? "held twice" : std::string{to_string(refused.error().code)});
  const ReleaseOutcome outcome = co_await async_release(std::move(*lease));
  story.push_back(std::string{to_string(outcome)});
}

TEST_P(MultiLockContract, CoroutinesTakeThemWithoutBlocking) {
  boost::asio::io_context context;
  std::vector<std::string> story;
  boost::asio::co_spawn(context, take_and_release(client(), story), boost::asio::detached);
  context.run();
  EXPECT_EQ(story, (std::vector<std::string>{"held", "busy", "released"}));
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

}  // namespace
}  // namespace holdfast::contract
