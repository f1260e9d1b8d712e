#include "cli/run/verdict.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace holdfast::cli {
namespace {

constexpr int exited(int code) { return code << 8; }

TEST(VerdictTest, TheProgramsOwnCodesAreItsOwn) {
  const Verdict verdict = judge({.name = "x", .program = "p", .wait_status = exited(75)});
  EXPECT_EQ(verdict.code, 75);
  EXPECT_FALSE(verdict.holdfast);
  EXPECT_EQ(verdict.reason, "exited");
  EXPECT_FALSE(verdict.error.has_value());
}

TEST(VerdictTest, ASignalAddsItsNumberTo128) {
  const Verdict verdict = judge({.name = "x", .program = "p", .wait_status = SIGKILL});
  EXPECT_EQ(verdict.code, 137);
  EXPECT_FALSE(verdict.holdfast);
  EXPECT_EQ(verdict.reason, "signal");
}

TEST(VerdictTest, BusyIsHoldfastsCode) {
  const Verdict verdict = judge({.name = "x", .program = "p", .refused = Error{Errc::busy}});
  EXPECT_EQ(verdict.code, 75);
  EXPECT_TRUE(verdict.holdfast);
  EXPECT_EQ(verdict.reason, "busy");
}

TEST(VerdictTest, ALostLeaseOutweighsHowTheProgramEnded) {
  const Verdict verdict =
      judge({.name = "x", .program = "p", .lost = Error{Errc::lost}, .wait_status = exited(0)});
  EXPECT_EQ(verdict.code, 76);
  EXPECT_TRUE(verdict.holdfast);
  EXPECT_EQ(verdict.reason, "lost");
}

TEST(VerdictTest, FailedStartsAreToldApart) {
  EXPECT_EQ(judge({.name = "x", .program = "p", .start_error = ENOENT}).code, 127);
  const Verdict denied = judge({.name = "x", .program = "p", .start_error = EACCES});
  EXPECT_EQ(denied.code, 126);
  EXPECT_TRUE(denied.holdfast);
  EXPECT_EQ(denied.reason, "could_not_start");
}

TEST(VerdictTest, InterruptedWaitingLooksAsInAShell) {
  const Verdict verdict = judge(
      {.name = "x", .program = "p", .interrupted_by = SIGINT, .refused = Error{Errc::cancelled}});
  EXPECT_EQ(verdict.code, 130);
  EXPECT_TRUE(verdict.holdfast);
}

TEST(VerdictTest, AnUnknownEndIsAnInternalError) {
  EXPECT_EQ(judge({.name = "x", .program = "p"}).code, 70);
}

}  // namespace
}  // namespace holdfast::cli
