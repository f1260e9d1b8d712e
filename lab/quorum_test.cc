// The probability that no majority is up.

#include "lab/quorum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace holdfast::lab {
namespace {

// By its definition: every way in which nodes can be up and down, one after the other.
double by_counting(int nodes, double availability) {
  double failure = 0;
  for (unsigned up = 0; up < 1U << static_cast<unsigned>(nodes); ++up) {
    const int count = std::popcount(up);
    if (count >= majority_of(nodes)) continue;
    failure += std::pow(availability, count) * std::pow(1 - availability, nodes - count);
  }
  return failure;
}

TEST(QuorumTest, AMajorityIsHalfAndOneMore) {
  EXPECT_EQ(majority_of(1), 1);
  EXPECT_EQ(majority_of(2), 2);
  EXPECT_EQ(majority_of(3), 2);
  EXPECT_EQ(majority_of(4), 3);
  EXPECT_EQ(majority_of(5), 3);
  EXPECT_EQ(spare_nodes(2), 0);
  EXPECT_EQ(spare_nodes(3), 1);
  EXPECT_EQ(spare_nodes(4), 1);
  EXPECT_EQ(spare_nodes(7), 3);
}

// Sums of fractions of whole numbers, rounded once, by another program.
TEST(QuorumTest, AgreesWithExactFractions) {
  struct Known {
    int nodes;
    double availability;
    double failure;
  };
  for (const Known& known : {Known{1, 0.9, 0.1},
                             Known{2, 0.9, 0.19},
                             Known{3, 0.99, 2.98e-4},
                             Known{4, 0.99, 5.9203e-4},
                             Known{5, 0.99, 9.8506e-6},
                             Known{5, 0.9, 0.00856},
                             Known{7, 0.95, 1.93578125e-4},
                             Known{9, 0.999, 1.2558053968507e-13},
                             Known{5, 0.9999, 9.99850006e-12},
                             Known{99, 0.75, 4.3848470459334599e-8},
                             Known{99, 0.9, 3.2321822349737451e-24}}) {
    EXPECT_NEAR(quorum_failure(known.nodes, known.availability) / known.failure, 1, 1e-9)
        << known.nodes << " nodes of " << known.availability;
  }
}

TEST(QuorumTest, AgreesWithCountingEveryCase) {
  for (int nodes = 1; nodes <= 12; ++nodes) {
    for (const double availability : {0.01, 0.3, 0.5, 0.77, 0.95, 0.999}) {
      EXPECT_NEAR(quorum_failure(nodes, availability) / by_counting(nodes, availability), 1, 1e-9)
          << nodes << " nodes of " << availability;
    }
  }
}

TEST(QuorumTest, ABetterNodeIsABetterMajority) {
  for (int nodes = 1; nodes <= kQuorumNodesMax; ++nodes) {
    double before = quorum_failure(nodes, 0.50);
    for (const double availability : {0.6, 0.8, 0.9, 0.99, 0.999, 0.9999}) {
      const double failure = quorum_failure(nodes, availability);
      EXPECT_LT(failure, before) << nodes << " nodes of " << availability;
      before = failure;
    }
  }
}

TEST(QuorumTest, TwoMoreNodesHelpIfEachIsUpMoreOftenThanNot) {
  for (const double availability : {0.51, 0.7, 0.9, 0.99, 0.9999}) {
    for (int nodes = 1; nodes + 2 <= kQuorumNodesMax; nodes += 2) {
      EXPECT_LT(quorum_failure(nodes + 2, availability), quorum_failure(nodes, availability))
          << nodes << " nodes of " << availability;
      EXPECT_GT(quorum_failure(nodes + 2, 1 - availability),
                quorum_failure(nodes, 1 - availability) * (1 - 1e-12))
          << nodes << " nodes of " << 1 - availability;
    }
  }
}

TEST(QuorumTest, AnEvenNumberIsWorseThanOneNodeFewer) {
  for (const double availability : {0.3, 0.5, 0.9, 0.99, 0.9999}) {
    for (int nodes = 2; nodes <= 20; nodes += 2) {
      EXPECT_GT(quorum_failure(nodes, availability), quorum_failure(nodes - 1, availability))
          << nodes << " nodes of " << availability;
    }
  }
}

// Of an odd number, either a majority is up or a majority is down.
TEST(QuorumTest, UpAndDownAreEachOthersMirrorImage) {
  for (int nodes = 1; nodes <= kQuorumNodesMax; nodes += 2) {
    EXPECT_NEAR(quorum_failure(nodes, 0.5), 0.5, 1e-12) << nodes;
    for (const double availability : {0.2, 0.6, 0.85}) {
      EXPECT_NEAR(
          quorum_failure(nodes, availability) + quorum_failure(nodes, 1 - availability), 1, 1e-12)
          << nodes << " nodes of " << availability;
    }
  }
}

TEST(QuorumTest, FailuresAreSaidInNinesAndInTimes) {
  EXPECT_NEAR(nines(0.001), 3, 1e-12);
  EXPECT_NEAR(nines(2.98e-4), 3.5258, 1e-4);
  EXPECT_DOUBLE_EQ(down_seconds_a_year(1), 31'557'600);
  EXPECT_EQ(time_words(down_seconds_a_year(0.01)), "3.7 days");
  EXPECT_EQ(time_words(down_seconds_a_year(0.001)), "8.8 h");
  EXPECT_EQ(time_words(down_seconds_a_year(0.0001)), "53 min");
  EXPECT_EQ(time_words(94.6), "95 s");
  EXPECT_EQ(time_words(0.3154), "315 ms");
  EXPECT_EQ(time_words(1e-9), "under 1 ms");
}

TEST(QuorumTest, APlanGivesAFailureForEachCount) {
  const QuorumPlan plan{.nodes = {1, 3, 5}, .availabilities = {99}};
  const auto failures = quorum_failures(plan, 99);
  ASSERT_EQ(failures.size(), 3U);
  EXPECT_NEAR(failures[0], 0.01, 1e-12);
  EXPECT_NEAR(failures[1], 2.98e-4, 1e-12);
  EXPECT_NEAR(failures[2], 9.8506e-6, 1e-12);
}

}  // namespace
}  // namespace holdfast::lab
