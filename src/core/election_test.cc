#include "core/election.h"

#include <gtest/gtest.h>

#include "holdfast/options.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

LockInfo waited_for_by(const std::vector<std::string>& labels) {
  LockInfo lock{};
  for (const std::string& label : labels) {
    Contender waiter{};
    waiter.label = label;
    lock.waiters.push_back(std::move(waiter));
  }
  return lock;
}

TEST(ElectionTest, ALabelTellsTheCandidateAndWhatItPublishes) {
  const CandidateLabel candidate{.id = "worker-2", .value = "10.0.0.7:8080"};
  EXPECT_EQ(to_label(candidate), "candidate worker-2, 10.0.0.7:8080");
  EXPECT_EQ(read_candidate(to_label(candidate)), candidate);
}

TEST(ElectionTest, IdsWithCommasAndValuesWithAnythingComeBackAsTheyWere) {
  const std::vector<CandidateLabel> candidates{{.id = "a,b", .value = ""},
                                               {.id = "a,b", .value = "x, y"},
                                               {.id = "100%", .value = ", "},
                                               {.id = "\xc3\xbc", .value = "candidate b"}};
  for (const CandidateLabel& candidate : candidates) {
    EXPECT_EQ(read_candidate(to_label(candidate)), candidate) << to_label(candidate);
  }
}

TEST(ElectionTest, OtherLabelsAreOfNoCandidate) {
  for (const char* label : {"", "nightly", "candidate ", "candidate", "candidate %zz"}) {
    EXPECT_EQ(read_candidate(label), std::nullopt) << label;
  }
}

TEST(ElectionTest, IdsAndValuesAreChecked) {
  EXPECT_TRUE(check_candidate("worker-2", "10.0.0.7:8080"));
  EXPECT_FALSE(check_candidate("", ""));
  EXPECT_FALSE(check_candidate("two words", ""));
  EXPECT_FALSE(check_candidate("a\nb", ""));
  EXPECT_FALSE(check_candidate(std::string(129, 'a'), ""));
  EXPECT_FALSE(check_candidate("a", std::string(2049, 'a')));
  EXPECT_FALSE(check_candidate("a", "x\ny"));
}

TEST(ElectionTest, ANameLeavesRoomForTheNameOfTheNext) {
  EXPECT_EQ(*next_leader_name("billing"), "billing.next");
  EXPECT_FALSE(next_leader_name(""));
  EXPECT_TRUE(next_leader_name(std::string(kNameBytesMax - 5, 'a')));
  EXPECT_FALSE(next_leader_name(std::string(kNameBytesMax - 4, 'a')));
}

TEST(ElectionTest, OthersGiveWayToOneThatIsNamedAndWaits) {
  const auto lock = waited_for_by({"nightly", to_label({.id = "b", .value = "x"})});
  constexpr Queue kQueue = Queue::first_come_first_served;
  EXPECT_TRUE(gives_way("c", "b", lock, kQueue));
  EXPECT_FALSE(gives_way("b", "b", lock, kQueue)) << "it is the one";
  EXPECT_FALSE(gives_way("c", std::nullopt, lock, kQueue)) << "nobody is named";
  EXPECT_FALSE(gives_way("c", "dead", lock, kQueue)) << "it does not wait";
  EXPECT_TRUE(gives_way("c", "dead", lock, Queue::unordered)) << "nobody can see who waits";
}

TEST(ElectionTest, WorkEndsBeforeTheLeaseDoes) {
  const TimePoint until{1h};
  EXPECT_EQ(work_ends_at(until, 10s, 2s), until - 2s);
  EXPECT_EQ(work_ends_at(until, 3s, 2s), until - 1s) << "a third of the TTL at most";
}

}  // namespace
}  // namespace holdfast::core
