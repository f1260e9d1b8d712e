// Goal: an uncontended acquire and release make no system call.
// Method: in a child that the kernel kills at the first system call it makes.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "engines/local/local_backend.h"
#include "engines/local/test_directory.h"

namespace holdfast::crash {
namespace {

constexpr int kPairs = 1'000;

// From here on every system call of this thread but exit ends the process with SIGSYS.
bool forbid_system_calls() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  }};
  sock_fprog filter{.len = program.size(), .filter = program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

[[noreturn]] void acquire_without_system_calls(const std::string& directory, int warm_up) {
  auto backend = local::open_backend(directory);
  if (!backend) _exit(2);
  const auto pair = [&] {
    auto lease = (*backend)->acquire("hot", {}, {});
    if (!lease || (*lease)->release() != ReleaseOutcome::released) _exit(3);
  };
  // The first use makes the session, the record and the name. Tokens are reserved in blocks, and
  // the next block is asked for when half of one is left: begin with enough ahead.
  const auto& header = dynamic_cast<local::LocalBackend&>(**backend).protocol().header();
  const auto enough_ahead = [&] {
    return header.token_limit.load() >
           header.next_token.load() + header.token_block.load() / 2 + kPairs + 1;
  };
  for (int i = 0; i < warm_up || !enough_ahead(); ++i) pair();
  if (!forbid_system_calls()) _exit(4);
  for (int i = 0; i < kPairs; ++i) pair();
  _exit(0);
}

int run_child(const std::string& directory, int warm_up) {
  const pid_t child = fork();
  if (child == 0) acquire_without_system_calls(directory, warm_up);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// The keeper of leases has rounds of its own now and then, most of all when it has just begun, and
// who meets it there waits for it or wakes it. A pair that needs the system itself meets it every
// time; one that does not gets through soon.
TEST(SystemCallsTest, UncontendedAcquireAndReleaseMakeNone) {
  constexpr int kTries = 20;
  const local::TestDirectory directory;
  int status = run_child(directory.path(), 1);
  for (int i = 1; i < kTries && WIFSIGNALED(status); ++i) {
    status = run_child(directory.path(), i * 10 * kPairs);
  }
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace holdfast::crash
