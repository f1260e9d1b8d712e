#include "tests/servers/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/assert.h"
#include "holdfast/clock.h"

namespace holdfast::servers {
namespace {

/// Far longer than a start takes on a busy machine.
constexpr std::chrono::seconds kBound{60};

/// What several servers at once may need; containers have less in memory unless told otherwise.
constexpr std::uintmax_t kRoom = std::uintmax_t{1} << 30;

// Memory where there is a file system for it: servers wait for the disk with every change.
std::filesystem::path make_directory(const std::string& kind) {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code no_space;
  const bool in_memory = access(memory.c_str(), W_OK) == 0 &&
                         std::filesystem::space(memory, no_space).available >= kRoom && !no_space;
  std::string name = (in_memory ? memory : std::filesystem::temp_directory_path()) /
                     ("holdfast-" + kind + "-XXXXXX");
  HOLDFAST_ASSERT(mkdtemp(name.data()) != nullptr);
  return name;
}

pid_t start_command(std::vector<std::string>& command, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  HOLDFAST_ASSERT(child >= 0);
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  execv(arguments.front(), arguments.data());
  _exit(127);
}

}  // namespace

void run_to_end(std::vector<std::string> command, const std::filesystem::path& log) {
  int status = 0;
  waitpid(start_command(command, log), &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::fprintf(stderr, "%s failed: see %s\n", command.front().c_str(), log.c_str());
  std::abort();
}

ServerProcess::ServerProcess(std::string kind)
    : kind_{std::move(kind)}, directory_{make_directory(kind_)} {}

ServerProcess::~ServerProcess() {
  end(SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void ServerProcess::start() {
  HOLDFAST_ASSERT(!is_running());
  pid_ = start_command(command_, directory_ / "log");
}

void ServerProcess::wait_until(const std::function<bool()>& ready) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  const TimePoint end = BootClock::now() + kBound;
  bool running = true;
  while (running && !ready()) {
    // Ends early when the server does.
    pollfd death{.fd = process, .events = POLLIN, .revents = 0};
    running = poll(&death, 1, /*timeout_ms=*/10) == 0 && BootClock::now() < end;
  }
  close(process);
  if (running) return;
  std::fprintf(stderr, "%s did not start: see %s\n", kind_.c_str(), directory_.c_str());
  std::abort();
}

void ServerProcess::end(int signal) {
  if (!is_running()) return;
  ::kill(pid_, signal);
  if (paused_) resume();
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ServerProcess::pause() {
  ::kill(pid_, SIGSTOP);
  // Stopped for certain only when the kernel says so.
  HOLDFAST_ASSERT(waitpid(pid_, nullptr, WUNTRACED) == pid_);
  paused_ = true;
}

void ServerProcess::resume() {
  ::kill(pid_, SIGCONT);
  paused_ = false;
}

}  // namespace holdfast::servers
