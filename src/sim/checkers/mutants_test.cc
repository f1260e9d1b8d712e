// A checker nobody has seen fail proves nothing. A good history is spoilt in every way we can think
// of, and the checker in charge must say so.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "sim/checkers/all.h"
#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

// Acquisitions of the good history after those of three_sections().
constexpr std::size_t kPaused = 3;
constexpr std::size_t kSuccessor = 4;
constexpr std::size_t kFirstInQueue = 5;
constexpr std::size_t kSecondInQueue = 6;
constexpr std::size_t kDemand = 8;
// Its operations.
constexpr std::size_t kFirstWrite = 2;
constexpr std::size_t kSecondOpen = 3;
constexpr std::size_t kSecondWrite = 5;
constexpr std::size_t kThirdRead = 7;
constexpr std::size_t kThirdWrite = 8;
constexpr std::size_t kStaleWrite = 14;

NodeStep granted(const Acquisition& grant, std::int64_t at_ms) {
  NodeStep step;
  step.lock = grant.lock;
  step.owner = std::to_string(grant.token.value());
  step.grant = grant.token;
  step.at = Millis{at_ms};
  step.until = Millis{at_ms + 80};
  return step;
}

Acquisition holder(std::size_t client, const Acquisition& grant) {
  Acquisition acquisition = grant;
  acquisition.client = client;
  return acquisition;
}

/// Holder 40 reads, looks at its lease at 419 ms and is paused until 560 ms, beyond its deadline.
/// Its successor works meanwhile, and when the write of holder 40 leaves at last, it is refused.
void add_a_pause(HistoryBuilder& builder) {
  Acquisition paused = grant(40, 390, 400, 480);
  paused.release_called_at = kNever;
  paused.loss = LossReason::expired;
  paused.loss_heard_at = at(560);
  builder.add(paused);
  builder.open(kPaused, 405);
  builder.read(kPaused, 410);
  builder.add(holder(1, grant(50, 440, 490, 570)));
  builder.open(kSuccessor, 495);
  builder.read(kSuccessor, 500);
  builder.write(kSuccessor, 505, 4);
  builder.repeat(509);
  builder.stale_write(kPaused, 560, 5);
  builder.fault({FaultClass::pause, span(420, 560), 0});
}

/// Two requests of client 2 queue for lock 1, and one of client 1, which dies. In the end lock 0 is
/// demanded once more.
void add_a_queue(HistoryBuilder& builder) {
  std::size_t last = 0;
  for (Acquisition queued : {grant(10, 600, 610, 640), grant(20, 601, 650, 690)}) {
    queued.lock = 1;
    queued.answer_by = at(700);
    last = builder.add(holder(2, queued));
  }
  builder.open(last, 655);
  builder.write(last, 660, 6);
  Acquisition dead = waiting(620, 700);
  dead.lock = 1;
  builder.add(holder(1, dead));
  builder.fault({FaultClass::crash, span(630, 670), 1});
  Acquisition demand = grant(60, 810, 820, 900);
  demand.incarnation = 1;
  builder.add(holder(1, demand));
}

History good_history() {
  HistoryBuilder builder;
  add_three_sections(builder);
  add_a_pause(builder);
  add_a_queue(builder);
  History history = builder.finish(3, 2000);
  history.operations[kStaleWrite].checked_at = at(419);
  history.pauses[0] = {span(420, 560)};
  history.healed_at = at(800);
  for (const Acquisition& grant : history.acquisitions) {
    if (!grant.granted()) continue;
    const auto ms = grant.called_at.time_since_epoch() / Millis{1};
    history.node_steps.push_back(granted(grant, ms + 1));
    history.node_steps.push_back(granted(grant, ms + 30));
  }
  return history;
}

bool flagged(const History& history, std::string_view checker) {
  const Violations violations = judge(history, Register::fenced).violations;
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& violation) {
    return violation.checker == checker;
  });
}

/// What is wrong with the history, for a test to print.
std::string complaints(const History& history) {
  std::string all;
  for (const Violation& violation : judge(history, Register::fenced).violations) {
    all += violation.checker + ": " + violation.what + '\n';
  }
  return all;
}

auto served_as(History& history, std::size_t operation) {
  return std::find_if(history.served.begin(), history.served.end(), [&](const Served& served) {
    return served.operation == operation;
  });
}

struct Mutant {
  std::string name;
  std::string checker;
  std::function<void(History&)> spoil;

  friend std::ostream& operator<<(std::ostream& out, const Mutant& mutant) {
    return out << mutant.name;
  }
};

std::string name_of(const testing::TestParamInfo<Mutant>& mutant) { return mutant.param.name; }

class HistoryMutantTest : public testing::TestWithParam<Mutant> {};

TEST(GoodHistoryTest, IsFlaggedByNoChecker) {
  EXPECT_EQ(complaints(good_history()), "");
  EXPECT_EQ(judge(good_history(), Register::fenced).lost_updates, 0U);
}

TEST_P(HistoryMutantTest, IsFlaggedByItsChecker) {
  History history = good_history();
  GetParam().spoil(history);
  EXPECT_TRUE(flagged(history, GetParam().checker)) << complaints(history);
}

void swap_tokens(History& history) {
  std::swap(history.acquisitions[0].token, history.acquisitions[1].token);
}

INSTANTIATE_TEST_SUITE_P(
    OfLocks,
    HistoryMutantTest,
    testing::Values(
        Mutant{"TokenTwice",
               "T1",
               [](History& history) { history.acquisitions[2].token = Token{10}; }},
        Mutant{"TokensSwappedInTime", "T2", swap_tokens},
        Mutant{"TokensSwappedInOrder", "L3", swap_tokens},
        Mutant{"GrantsReordered",
               "L3",
               [](History& history) {
                 history.acquisitions[1].called_at = at(20);
                 history.acquisitions[1].returned_at = at(30);
               }},
        Mutant{"SecondTokenForAStandingGrant",
               "T3",
               [](History& history) { history.node_steps[1].grant = Token{11}; }},
        Mutant{"HolderStays",
               "L1",
               [](History& history) {
                 history.acquisitions[0].release_called_at = kNever;
                 history.acquisitions[0].deadline = at(250);
               }},
        Mutant{"SuccessorTooEarly",
               "L1",
               [](History& history) { history.acquisitions[kSuccessor].returned_at = at(479); }},
        Mutant{"LookPastTheDeadline",
               "L2",
               [](History& history) { history.operations[kStaleWrite].checked_at = at(480); }},
        Mutant{"LookAfterTheRelease",
               "L2",
               [](History& history) { history.acquisitions[0].release_called_at = at(119); }},
        Mutant{"LossHeardLate",
               "L2",
               [](History& history) { history.acquisitions[kPaused].loss_heard_at = at(561); }},
        Mutant{"LossNeverHeard",
               "L2",
               [](History& history) { history.acquisitions[kPaused].loss = LossReason::none; }},
        Mutant{"PauseThatWasNone", "L2", [](History& history) { history.pauses[0].clear(); }},
        Mutant{"QueueOutOfOrder",
               "Q1",
               [](History& history) {
                 std::swap(history.acquisitions[kFirstInQueue].returned_at,
                           history.acquisitions[kSecondInQueue].returned_at);
               }},
        Mutant{
            "AnswerLate",
            "V1",
            [](History& history) { history.acquisitions[kSecondInQueue].returned_at = at(702); }},
        Mutant{"WaiterOfALivingProcess", "V1", [](History& history) { history.faults.pop_back(); }},
        Mutant{"WaiterForgotten",
               "waiter",
               [](History& history) {
                 history.acquisitions[kDemand].outcome = Outcome::none;
                 history.acquisitions[kDemand].returned_at = kNever;
               }},
        Mutant{"DemandDenied",
               "waiter",
               [](History& history) { history.acquisitions[kDemand].outcome = Outcome::refused; }}),
    name_of);

void move_write_past_the_next_open(History& history) {
  const auto write = served_as(history, kFirstWrite);
  std::rotate(write, write + 1, served_as(history, kSecondOpen) + 1);
}

void accept_the_stale_write(History& history) {
  served_as(history, kStaleWrite)->verdict = Verdict::accepted;
}

INSTANTIATE_TEST_SUITE_P(
    OfRegisters,
    HistoryMutantTest,
    testing::Values(
        Mutant{"StaleWriteAccepted", "G1", accept_the_stale_write},
        Mutant{"StaleWriteInAnotherSection", "G2", accept_the_stale_write},
        Mutant{"RefusalDropped",
               "G3",
               [](History& history) { history.served.erase(served_as(history, kStaleWrite)); }},
        Mutant{
            "GoodWriteRefused",
            "G1",
            [](History& history) { served_as(history, kThirdWrite)->verdict = Verdict::refused; }},
        Mutant{"WritePastTheNextOpen", "G1", move_write_past_the_next_open},
        Mutant{"WritePastTheNextOpenInBlocks", "G2", move_write_past_the_next_open},
        Mutant{"WritePastTheNextOpenInTime", "G3", move_write_past_the_next_open},
        Mutant{"OpenLeftOut",
               "G2",
               [](History& history) { history.served.erase(served_as(history, kSecondOpen)); }},
        Mutant{"ReadOfAnOldValue",
               "G3",
               [](History& history) {
                 served_as(history, kThirdRead)->value = 1;
                 history.operations[kThirdRead].value = 1;
               }},
        Mutant{"AnswerBeforeTheRequestWasServed",
               "G3",
               [](History& history) { history.operations[kThirdWrite].returned_at = at(320); }},
        Mutant{"WriteBasedOnAnOldValue",
               "G4",
               [](History& history) { history.operations[kThirdWrite].based_on = 1; }},
        Mutant{"RegisterWentBack", "G4", [](History& history) { history.final_values[0] = 3; }},
        Mutant{"StaleWriteShows", "G4", [](History& history) { history.final_values[0] = 5; }},
        Mutant{
            "RegisterOfTheOtherLock",
            "G4",
            [](History& history) { std::swap(history.final_values[0], history.final_values[1]); }}),
    name_of);

TEST(EveryHistoryMutantTest, TwoTokensOfALockCannotChangePlaces) {
  const History good = good_history();
  for (std::size_t i = 0; i < good.acquisitions.size(); ++i) {
    for (std::size_t j = i + 1; j < good.acquisitions.size(); ++j) {
      History history = good;
      Acquisition& first = history.acquisitions[i];
      Acquisition& second = history.acquisitions[j];
      const bool in_turn = first.returned_at < second.called_at;
      if (!first.granted() || !second.granted() || first.lock != second.lock || !in_turn) continue;
      std::swap(first.token, second.token);
      EXPECT_TRUE(flagged(history, "T2")) << i << ' ' << j;
      EXPECT_TRUE(flagged(history, "L3")) << i << ' ' << j;
    }
  }
}

TEST(EveryHistoryMutantTest, NoVerdictCanBeTurnedOrLeftOut) {
  const History good = good_history();
  for (std::size_t i = 0; i < good.served.size(); ++i) {
    // The repeated message is one verdict given twice.
    const std::size_t operation = good.served[i].operation;
    if (std::count_if(good.served.begin(), good.served.end(), [&](const Served& served) {
          return served.operation == operation;
        }) > 1) {
      continue;
    }
    History turned = good;
    Verdict& verdict = turned.served[i].verdict;
    verdict = verdict == Verdict::accepted ? Verdict::refused : Verdict::accepted;
    EXPECT_TRUE(flagged(turned, "G1")) << i;
    History left_out = good;
    left_out.served.erase(left_out.served.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(flagged(left_out, "G3")) << i;
  }
}

TEST(EveryHistoryMutantTest, NoAcknowledgedWriteCanBeLeftOut) {
  const History good = good_history();
  for (std::size_t i = 0; i < good.operations.size(); ++i) {
    const Operation& write = good.operations[i];
    if (write.verb != Verb::write || write.outcome != Outcome::ok) continue;
    History history = good;
    // Whatever was built on it is now built on what it was built on itself.
    for (Operation& other : history.operations) {
      if (other.based_on == write.value) other.based_on = write.based_on;
    }
    std::replace(
        history.final_values.begin(), history.final_values.end(), write.value, write.based_on);
    EXPECT_TRUE(flagged(history, "G4")) << i;
    EXPECT_EQ(judge(history, Register::fenced).lost_updates, 1U) << i;
  }
}

}  // namespace
}  // namespace holdfast::sim
