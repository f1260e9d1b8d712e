#include "cli/run/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/unique_fd.h"

namespace holdfast::cli {
namespace {

void set_environment(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    setenv(assignment.substr(0, equals).c_str(), assignment.c_str() + equals + 1, 1);
  }
}

// In the new process. Returns only when the program could not be executed.
int become(const ChildSpec& spec, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  setpgid(0, 0);
  // Every signal is blocked still, TTOU among them, so a background process may do this.
  if (spec.terminal == TerminalUse::at_once) tcsetpgrp(STDIN_FILENO, getpid());
  set_environment(spec.environment);
  std::vector<char*> argv;
  for (const std::string& word : spec.program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pthread_sigmask(SIG_SETMASK, &spec.signal_mask, nullptr);
  execvp(argv[0], argv.data());
  return errno;
}

}  // namespace

StartedChild start_child(const ChildSpec& spec) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {.pid = 0, .error = errno};
  UniqueFd reader{ends[0]};
  UniqueFd writer{ends[1]};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return {.pid = 0, .error = errno};
  if (pid == 0) {
    const int error = become(spec, parent);
    (void)!write(writer.get(), &error, sizeof error);
    _exit(EXIT_FAILURE);
  }
  setpgid(pid, pid);
  writer.reset();
  int error = 0;
  // A successful exec closes the pipe: nothing to read.
  if (read(reader.get(), &error, sizeof error) != sizeof error) return {.pid = pid, .error = 0};
  waitpid(pid, nullptr, 0);
  return {.pid = 0, .error = error};
}

}  // namespace holdfast::cli
