#include "engines/redlock/verdict.h"

#include <gtest/gtest.h>

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;
using Cause = Refusal::Cause;

constexpr const char* kAlice = "00112233445566778899aabbccddeeff:7:";
constexpr const char* kBob = "ffeeddccbbaa99887766554433221100:8:";
const std::vector<std::string> kNames{"a", "b", "c", "d", "e"};

Obstacle held_by(const std::string& value, std::int64_t left_ms) {
  return redis::Reply::of_array({redis::Reply::of_integer(0),
                                 redis::Reply::of_text(value),
                                 redis::Reply::of_integer(left_ms)});
}
Obstacle down() { return Error{Errc::unavailable, "connection refused"}; }

TEST(VerdictTest, AHolderOfAMajorityIsWaitedFor) {
  const Refusal refusal = refusal_of({held_by(kAlice, 900), held_by(kAlice, 500), {}}, kNames);
  EXPECT_EQ(refusal.cause, Cause::held);
  EXPECT_EQ(refusal.error.code, Errc::busy);
  EXPECT_EQ(refusal.error.holder->token, Token{7});
  EXPECT_EQ(refusal.ends_in, 500ms) << "with the one that is free there are two then";
  ASSERT_EQ(refusal.error.nodes.size(), 2U);
  EXPECT_EQ(refusal.error.nodes[0].node, "a");
}

TEST(VerdictTest, PartsInDifferentHandsAreATie) {
  const Refusal refusal = refusal_of({held_by(kAlice, 900), held_by(kBob, 900), {}}, kNames);
  EXPECT_EQ(refusal.cause, Cause::contended);
  EXPECT_EQ(refusal.error.code, Errc::busy);
}

TEST(VerdictTest, AnEvenNumberOfNodesMayTie) {
  const Refusal refusal = refusal_of(
      {held_by(kAlice, 900), held_by(kAlice, 900), held_by(kBob, 900), held_by(kBob, 900)}, kNames);
  EXPECT_EQ(refusal.cause, Cause::contended);
}

TEST(VerdictTest, WhoMayHaveItOnNodesThatAreDownIsTakenForTheHolder) {
  EXPECT_EQ(refusal_of({held_by(kAlice, 900), down(), {}}, kNames).cause, Cause::held);
}

TEST(VerdictTest, NodesDownAreToldFromHeldByAnother) {
  const Refusal refusal = refusal_of({held_by(kAlice, 900), down(), down()}, kNames);
  EXPECT_EQ(refusal.cause, Cause::nodes);
  EXPECT_EQ(refusal.error.code, Errc::unavailable);
  EXPECT_NE(refusal.error.message.find("1 of 3"), std::string::npos) << refusal.error.message;
  ASSERT_EQ(refusal.error.nodes.size(), 3U);
  EXPECT_EQ(refusal.error.nodes[0].message, "held by another");
  EXPECT_EQ(refusal.error.nodes[1].message, "connection refused");
}

TEST(VerdictTest, NodesThatHaveNotAnsweredYetAreNotTakenForDown) {
  const Obstacle unknown = Error{Errc::busy, "no answer yet"};
  const Refusal refusal =
      refusal_of({held_by(kAlice, 900), down(), held_by(kAlice, 900), unknown, down()}, kNames);
  EXPECT_EQ(refusal.cause, Cause::held);
  EXPECT_EQ(refusal.error.code, Errc::busy);
}

TEST(VerdictTest, ACommonCauseIsTold) {
  const Obstacle denied = Error{Errc::denied, "wrong password"};
  EXPECT_EQ(refusal_of({denied, denied, denied}, kNames).error.code, Errc::denied);
  EXPECT_EQ(refusal_of({denied, down(), {}}, kNames).error.code, Errc::unavailable);
}

TEST(VerdictTest, ANodeThatIsNotOfTheSetIsSentToRejoin) {
  const Error error = node_error(redis::Reply::of_error("HOLDFAST-NODES this node is not"));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_NE(error.remedy().find("rejoin"), std::string::npos);
  EXPECT_EQ(node_error(redis::Reply::of_error("NOPERM no")).code, Errc::denied);
}

}  // namespace
}  // namespace holdfast::redlock
