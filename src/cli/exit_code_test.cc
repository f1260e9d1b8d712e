#include "cli/exit_code.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace holdfast::cli {
namespace {

TEST(ExitCodeTest, EveryErrorHasTheCodeOfTheTable) {
  const std::pair<Errc, int> table[] = {
      {Errc::busy, 75},
      {Errc::timeout, 75},
      {Errc::cancelled, 75},
      {Errc::unavailable, 69},
      {Errc::unknown_outcome, 69},
      {Errc::lost, 76},
      {Errc::stale_token, 78},
      {Errc::wrong_domain, 78},
      {Errc::version_conflict, 79},
      {Errc::not_found, 66},
      {Errc::denied, 77},
      {Errc::invalid_argument, 65},
      {Errc::unsupported, 65},
      {Errc::corrupt, 74},
      {Errc::io_error, 74},
      {Errc::no_space, 74},
      {Errc::shutting_down, 70},
      {Errc::internal, 70},
  };
  for (const auto& [code, expected] : table) {
    EXPECT_EQ(to_int(exit_code_of(code)), expected) << to_string(code);
  }
}

TEST(ExitCodeTest, FailedStartsAreToldApart) {
  EXPECT_EQ(to_int(exit_code_of_exec(ENOENT)), 127);
  EXPECT_EQ(to_int(exit_code_of_exec(EACCES)), 126);
}

TEST(ExitCodeTest, WaitStatusReadsAsInAShell) {
  const int exited_with_3 = 3 << 8;
  EXPECT_EQ(exit_code_of_wait(exited_with_3), 3);
  EXPECT_EQ(exit_code_of_wait(SIGTERM), 143);
}

}  // namespace
}  // namespace holdfast::cli
