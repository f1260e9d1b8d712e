#include "engines/local/engine.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "engines/local/survey.h"
#include "engines/local/test_directory.h"

namespace holdfast::local {
namespace {

Request exclusive(Millis ttl = Millis{30'000}) { return {.ttl = ttl}; }
Request shared() { return {.claim = {.mode = Mode::shared}, .ttl = Millis{30'000}}; }
Request permit(std::uint32_t n) {
  return {.claim = {.mode = Mode::permit, .permits = n}, .ttl = Millis{30'000}};
}

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override { engine_ = open(); }

  std::unique_ptr<Engine> open() {
    auto opened = Engine::open(directory_.path());
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : nullptr;
  }
  Ticket enter(const std::string& name, const Request& request) {
    auto ticket = engine_->enter(name, request, BootClock::now());
    EXPECT_TRUE(ticket.has_value());
    return *ticket;
  }
  Standing::State look(const Ticket& ticket) {
    return engine_->look(ticket, BootClock::now()).state;
  }

  TestDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, FirstHoldsAndTokensRise) {
  Ticket first = enter("a", exclusive());
  EXPECT_TRUE(engine_->take_if_first(first));
  EXPECT_EQ(engine_->leave(first), Mark::left);
  Ticket second = enter("a", exclusive());
  EXPECT_TRUE(engine_->take_if_first(second));
  EXPECT_GT(second.token, first.token);
  EXPECT_NE(second.owner, first.owner);
  engine_->leave(second);
}

TEST_F(EngineTest, SecondWaitsUntilFirstLeaves) {
  Ticket first = enter("a", exclusive());
  Ticket second = enter("a", exclusive());
  Ticket third = enter("a", exclusive());
  EXPECT_FALSE(engine_->take_if_first(second));
  EXPECT_EQ(look(second), Standing::State::waiting);
  engine_->leave(first);
  EXPECT_EQ(look(third), Standing::State::waiting);
  EXPECT_EQ(look(second), Standing::State::granted);
  EXPECT_TRUE(engine_->confirm(second, BootClock::now()));
  engine_->leave(second);
  EXPECT_EQ(look(third), Standing::State::granted);
  EXPECT_LT(first.token, second.token);
  EXPECT_LT(second.token, third.token);
  engine_->leave(third);
}

TEST_F(EngineTest, AWaiterThatLeavesFromTheMiddleIsForgotten) {
  Ticket first = enter("a", exclusive());
  Ticket second = enter("a", exclusive());
  Ticket third = enter("a", exclusive());
  engine_->leave(second);
  EXPECT_EQ(look(third), Standing::State::waiting);
  engine_->leave(first);
  EXPECT_EQ(look(third), Standing::State::granted);
  engine_->leave(third);
  EXPECT_TRUE(engine_->list("", BootClock::now()).empty());
}

TEST_F(EngineTest, AWaitingWriterStopsNewReaders) {
  Ticket reader = enter("a", shared());
  Ticket writer = enter("a", exclusive());
  Ticket late_reader = enter("a", shared());
  EXPECT_EQ(look(writer), Standing::State::waiting);
  EXPECT_EQ(look(late_reader), Standing::State::waiting);
  engine_->leave(writer);
  EXPECT_EQ(look(late_reader), Standing::State::granted);
  engine_->leave(reader);
  engine_->leave(late_reader);
}

TEST_F(EngineTest, PermitsAdmitSoManyAndNoMore) {
  Ticket one = enter("a", permit(2));
  Ticket two = enter("a", permit(2));
  Ticket three = enter("a", permit(2));
  EXPECT_EQ(look(two), Standing::State::granted);
  EXPECT_EQ(look(three), Standing::State::waiting);
  Ticket other = enter("a", permit(3));
  EXPECT_EQ(look(other), Standing::State::permits_differ);
  engine_->leave(other);
  engine_->leave(one);
  EXPECT_EQ(look(three), Standing::State::granted);
  engine_->leave(two);
  engine_->leave(three);
}

TEST_F(EngineTest, AnExpiredSessionIsTakenOut) {
  Ticket first = enter("a", exclusive(Millis{100}));
  Ticket second = enter("a", exclusive());
  const TimePoint later = engine_->deadline(first);
  EXPECT_EQ(engine_->look(second, later - Duration{1}).state, Standing::State::waiting);
  EXPECT_EQ(engine_->look(second, later).state, Standing::State::granted);
  EXPECT_EQ(engine_->mark_of(first), Mark::expired);
  EXPECT_EQ(engine_->renew(first, BootClock::now()), Renewal::expired);
  EXPECT_EQ(engine_->leave(first), Mark::expired);
  engine_->leave(second);
}

TEST_F(EngineTest, ARenewedSessionIsNotTakenOut) {
  Ticket first = enter("a", exclusive(Millis{100}));
  Ticket second = enter("a", exclusive());
  const TimePoint later = engine_->deadline(first);
  EXPECT_EQ(engine_->renew(first, later), Renewal::renewed);
  EXPECT_EQ(engine_->look(second, later).state, Standing::State::waiting);
  engine_->leave(first);
  engine_->leave(second);
}

TEST_F(EngineTest, LockDelayKeepsALockOfAVanishedHolder) {
  Request request = exclusive(Millis{100});
  request.lock_delay = Millis{5'000};
  Ticket first = enter("a", request);
  Ticket second = enter("a", exclusive());
  const TimePoint end = engine_->deadline(first);
  EXPECT_EQ(engine_->look(second, end).state, Standing::State::waiting);
  EXPECT_EQ(engine_->look(second, end + Millis{4'999}).state, Standing::State::waiting);
  EXPECT_EQ(engine_->look(second, end + Millis{5'000}).state, Standing::State::granted);
  engine_->leave(first);
  engine_->leave(second);
}

TEST_F(EngineTest, LockDelayHoldsForALeaseThatItsOwnProcessGaveUpAsLost) {
  Request request = exclusive();
  request.lock_delay = Millis{60'000};
  Ticket first = enter("a", request);
  Ticket second = enter("a", exclusive());
  engine_->vanish(first);
  const TimePoint now = BootClock::now();
  EXPECT_EQ(engine_->look(second, now).state, Standing::State::waiting);
  EXPECT_EQ(engine_->look(second, now + Millis{60'000}).state, Standing::State::granted);
  engine_->leave(second);
}

TEST_F(EngineTest, ARecordIsNeverGivenTwice) {
  engine_->leave(enter("a", exclusive()));
  std::set<Ref> records;
  std::vector<Ticket> tickets;
  for (int i = 0; i < 40; ++i) {
    tickets.push_back(enter("n" + std::to_string(i), exclusive()));
    EXPECT_TRUE(records.insert(tickets.back().contender).second);
  }
  for (const Ticket& ticket : tickets) engine_->leave(ticket);
}

TEST_F(EngineTest, ABrokenHolderIsOut) {
  Ticket first = enter("a", exclusive());
  Ticket second = enter("a", exclusive());
  const auto broken = engine_->break_holders("a", BootClock::now());
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].token, first.token);
  EXPECT_EQ(engine_->mark_of(first), Mark::broken);
  EXPECT_EQ(look(second), Standing::State::granted);
  EXPECT_EQ(engine_->leave(first), Mark::broken);
  engine_->leave(second);
}

TEST_F(EngineTest, ADetachedLeaseOutlivesTheEngineThatTookIt) {
  Request request = exclusive(Millis{60'000});
  request.kind = LeaseKind::detached;
  request.label = "backup";
  Ticket ticket = enter("a", request);
  ASSERT_EQ(look(ticket), Standing::State::granted);
  ASSERT_TRUE(engine_->confirm(ticket, BootClock::now()));
  engine_.reset();
  engine_ = open();
  const LockInfo info = engine_->inspect("a", BootClock::now());
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].label, "backup");
  EXPECT_EQ(info.holders[0].token, ticket.token);
  EXPECT_TRUE(
      engine_->renew_detached("a", ticket.owner, Millis{60'000}, BootClock::now()).has_value());
  EXPECT_EQ(*engine_->release_detached("a", ticket.owner), ReleaseOutcome::released);
  EXPECT_EQ(*engine_->release_detached("a", ticket.owner), ReleaseOutcome::already_lost);
  Ticket next = enter("a", exclusive());
  EXPECT_GT(next.token, ticket.token);
  EXPECT_TRUE(engine_->take_if_first(next) || look(next) == Standing::State::granted);
  engine_->leave(next);
}

TEST_F(EngineTest, ManyNamesAreHeldAtOnceAndFoundAgain) {
  constexpr int kNames = 50'000;
  std::vector<Ticket> tickets;
  tickets.reserve(kNames);
  for (int i = 0; i < kNames; ++i) {
    tickets.push_back(enter("name/" + std::to_string(i), exclusive()));
    ASSERT_TRUE(engine_->take_if_first(tickets.back()));
  }
  for (int i = 0; i < kNames; i += 997) {
    Ticket again = enter("name/" + std::to_string(i), exclusive());
    EXPECT_EQ(look(again), Standing::State::waiting);
    engine_->leave(again);
  }
  EXPECT_EQ(engine_->list("", BootClock::now()).size(), static_cast<std::size_t>(kNames));
  EXPECT_EQ(survey(engine_->file()), Survey::idle);
  for (const Ticket& ticket : tickets) EXPECT_EQ(engine_->leave(ticket), Mark::left);
  EXPECT_TRUE(engine_->list("", BootClock::now()).empty());
}

TEST_F(EngineTest, MemoryOfIdleNamesIsUsedAgain) {
  const auto use_names = [&](int from) {
    for (int i = 0; i < 300'000; ++i) engine_->leave(enter(std::to_string(from + i), exclusive()));
  };
  use_names(0);
  const std::uint64_t before = engine_->header().end_bytes.load();
  use_names(300'000);
  const std::uint64_t after = engine_->header().end_bytes.load();
  EXPECT_LT(after, before + before / 2);
}

// Goal: a name is never in the index twice, whoever adds it, and exclusion holds while slots are
// retired and used again under load.
// Method: threads take turns on many names of few buckets' worth; each name counts its holders.
TEST_F(EngineTest, ThreadsExcludeEachOtherOnNamesThatComeAndGo) {
  constexpr int kThreads = 4;
  constexpr int kNames = 64;
  constexpr int kRounds = 20'000;
  std::array<std::atomic<int>, kNames> inside{};
  std::array<std::atomic<std::uint64_t>, kNames> last{};
  std::atomic<int> violations{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::uint64_t random = 88'172'645'463'325'252ULL + static_cast<std::uint64_t>(t);
      for (int round = 0; round < kRounds; ++round) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const int name = static_cast<int>(random % kNames);
        auto ticket = engine_->enter("n" + std::to_string(name), exclusive(), BootClock::now());
        if (!ticket) continue;
        const bool held =
            engine_->take_if_first(*ticket) ||
            engine_->look(*ticket, BootClock::now()).state == Standing::State::granted;
        if (held) {
          if (inside[static_cast<std::size_t>(name)].fetch_add(1) != 0) ++violations;
          auto& newest = last[static_cast<std::size_t>(name)];
          if (newest.exchange(ticket->token.value()) >= ticket->token.value()) ++violations;
          inside[static_cast<std::size_t>(name)].fetch_sub(1);
        }
        engine_->leave(*ticket);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(violations.load(), 0);
  EXPECT_TRUE(engine_->list("", BootClock::now()).empty());
}

}  // namespace
}  // namespace holdfast::local
