// Who leads, who follows, and how others learn of it.

#include <iostream>

#include "tests/recipes/election_bed.h"

namespace holdfast::recipes {
namespace {

using ElectionContract = ElectionTest;
HOLDFAST_RECIPE(ElectionContract);

double in_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

TEST_P(ElectionContract, TheLeaderIsKnownByIdValueAndEpoch) {
  ASSERT_FALSE(*find_leader(client(), kName));
  auto term = campaign(reconnect(), kName, {.value = "10.0.0.7:8080", .id = "anna"});
  ASSERT_TRUE(term) << term.error().message;
  const auto leader = find_leader(client(), kName);
  ASSERT_TRUE(leader && *leader);
  EXPECT_EQ((*leader)->id, "anna");
  EXPECT_EQ((*leader)->value, "10.0.0.7:8080");
  EXPECT_EQ((*leader)->epoch, term->epoch());
  EXPECT_EQ((*leader)->pid, getpid());
  EXPECT_TRUE(term->lease().ensure_held());
  EXPECT_FALSE(term->stop_token().stop_requested());
  EXPECT_EQ(term->step_down(), ReleaseOutcome::released);
  EXPECT_TRUE(term->stop_token().stop_requested());
  EXPECT_FALSE(*find_leader(client(), kName));
}

// The figure of the issue is 50 ms and a round trip; the bound is one that only a defect reaches.
TEST_P(ElectionContract, TheNextOneFollowsAStepDownAtOnceWithAHigherEpoch) {
  auto anna = leader("anna");
  auto bert = stand_in("bert");
  EXPECT_FALSE(bert->leads());
  const TimePoint asked_at = BootClock::now();
  static_cast<void>(client().inspect(kName));
  const Duration round_trip = BootClock::now() - asked_at;
  const TimePoint stepped_down_at = BootClock::now();
  anna->candidate().step_down();
  ASSERT_TRUE(eventually([&] { return bert->leads(); }));
  EXPECT_GT(bert->epoch(), anna->epoch());
  EXPECT_TRUE(is_led_by("bert"));
  EXPECT_EQ(anna->losses(), 0);
  const Duration took = bert->elected_at() - stepped_down_at;
  std::cout << GetParam().name << ": followed a step-down after " << in_ms(took)
            << " ms, where a look takes " << in_ms(round_trip) << " ms\n";
  EXPECT_LT(took, 2s);
}

TEST_P(ElectionContract, ALeaderThatStepsDownIsACandidateAgain) {
  auto anna = leader("anna");
  auto bert = stand_in("bert");
  anna->candidate().step_down();
  ASSERT_TRUE(eventually([&] { return bert->leads(); }));
  bert->leave();
  EXPECT_TRUE(eventually([&] { return anna->terms() == 2 && anna->leads(); }));
}

TEST_P(ElectionContract, OneThatRetiresLeadsOnce) {
  Worker anna{reconnect(), "anna", ttl(), AfterTerm::retire};
  ASSERT_TRUE(eventually([&] { return anna.leads(); }));
  auto bert = stand_in("bert");
  anna.candidate().step_down();
  ASSERT_TRUE(eventually([&] { return bert->leads(); }));
  bert->leave();
  EXPECT_TRUE(eventually([&] { return !*find_leader(client(), kName); }));
  EXPECT_EQ(anna.terms(), 1);
}

TEST_P(ElectionContract, WhoLeavesTheElectionLeavesNothingBehind) {
  auto anna = leader("anna");
  auto bert = stand_in("bert");
  bert->leave();
  EXPECT_TRUE(wait_for_waiters(kName, 0));
  EXPECT_EQ(bert->terms(), 0);
  anna->leave();
  EXPECT_FALSE(*find_leader(client(), kName));
}

TEST_P(ElectionContract, ACampaignCanBeCancelled) {
  auto anna = leader("anna");
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return campaign(reconnect(), kName, {.id = "bert"}, stop.get_token()).error().code;
  });
  if (shows_waiters()) {
    EXPECT_TRUE(wait_for_waiters(kName, 1));
  }
  stop.request_stop();
  EXPECT_EQ(waiting.get(), Errc::cancelled);
  EXPECT_TRUE(wait_for_waiters(kName, 0));
}

TEST_P(ElectionContract, AWatchTellsEveryLeaderThatStays) {
  auto watch = LeaderWatch::start(reconnect(), kName);
  ASSERT_TRUE(watch);
  auto leader_now = watch->next();
  ASSERT_TRUE(leader_now) << leader_now.error().message;
  EXPECT_FALSE(*leader_now);

  auto anna = leader("anna");
  leader_now = watch->next();
  const TimePoint told_at = BootClock::now();
  ASSERT_TRUE(leader_now && *leader_now);
  EXPECT_EQ((*leader_now)->id, "anna");
  EXPECT_EQ((*leader_now)->epoch, anna->epoch());
  std::cout << GetParam().name << ": a watch told of the leader "
            << in_ms(told_at - anna->elected_at()) << " ms after it led\n";

  anna->leave();
  leader_now = watch->next();
  ASSERT_TRUE(leader_now);
  EXPECT_FALSE(*leader_now);
}

TEST_P(ElectionContract, AWatchCanBeStopped) {
  auto watch = LeaderWatch::start(reconnect(), kName);
  ASSERT_TRUE(watch && watch->next());
  std::stop_source stop;
  auto next = std::async(std::launch::async, [&] { return watch->next(stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(next.get().error().code, Errc::cancelled);
}

TEST_P(ElectionContract, ALockOfAnotherProgramIsALeaderWithoutAnId) {
  auto lease = client().acquire(kName, {.label = "nightly"});
  ASSERT_TRUE(lease);
  const auto leader = find_leader(client(), kName);
  ASSERT_TRUE(leader && *leader);
  EXPECT_EQ((*leader)->id, "");
  EXPECT_EQ((*leader)->value, "nightly");
  EXPECT_EQ((*leader)->epoch, lease->token());
}

TEST_P(ElectionContract, WhatIsWrongIsRefused) {
  const auto code = [&](std::string_view name, const CandidateOptions& options) {
    auto term = campaign(client(), name, options);
    return term ? Errc{} : term.error().code;
  };
  EXPECT_EQ(code("", {}), Errc::invalid_argument);
  EXPECT_EQ(code(kName, {.id = "two words"}), Errc::invalid_argument);
  EXPECT_EQ(code(kName, {.ttl = 1ms}), Errc::invalid_argument);
  const auto idle = Candidate::start(client(), kName, {}, {});
  ASSERT_FALSE(idle);
  EXPECT_EQ(idle.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::recipes
