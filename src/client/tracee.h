// A child process that a test stops at its system calls, to kill it there or have the call fail.

#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "holdfast/error.h"

namespace holdfast::testing {

/// A child that does one thing, stopped at each end of each of its system calls.
class Tracee {
 public:
  explicit Tracee(const std::function<Errc()>& act) : pid_{fork()} {
    if (pid_ == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(100);
      raise(SIGSTOP);
      _exit(static_cast<int>(act()));
    }
    EXPECT_TRUE(WIFSTOPPED(wait()));
    EXPECT_EQ(ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD), 0);
  }
  ~Tracee() { kill_now(); }
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;

  enum class At { entry, exit, over };
  At step() {
    EXPECT_EQ(ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr), 0);
    const int status = wait();
    EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80)) << status;
    in_call_ = !in_call_;
    if (call() == SYS_exit_group) return At::over;
    return in_call_ ? At::entry : At::exit;
  }
  /// To the entry of the next such call. False: the child is over without one.
  bool run_to(long call_number) {
    At at = step();
    while (at != At::over && (at != At::entry || call() != call_number)) at = step();
    return at != At::over;
  }
  long call() const { return static_cast<long>(registers().orig_rax); }

  /// At the entry of a call: it is not made, and answers with the error.
  void refuse(int error) {
    user_regs_struct changed = registers();
    changed.orig_rax = ~0ULL;
    ptrace(PTRACE_SETREGS, pid_, nullptr, &changed);
    step();
    changed = registers();
    changed.rax = static_cast<unsigned long long>(-error);
    ptrace(PTRACE_SETREGS, pid_, nullptr, &changed);
  }

  /// Lets it go on; what it answered.
  Errc finish() {
    ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    const int status = wait();
    pid_ = -1;
    EXPECT_TRUE(WIFEXITED(status)) << status;
    return static_cast<Errc>(WEXITSTATUS(status));
  }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    wait();
    pid_ = -1;
  }

 private:
  int wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }
  user_regs_struct registers() const {
    user_regs_struct registers{};
    EXPECT_EQ(ptrace(PTRACE_GETREGS, pid_, nullptr, &registers), 0);
    return registers;
  }

  pid_t pid_;
  bool in_call_{false};
};

}  // namespace holdfast::testing
