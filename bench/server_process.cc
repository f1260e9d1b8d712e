#include "bench/server_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "holdfast/clock.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

// In the child, between fork and exec.
[[noreturn]] void become_server(std::vector<char*>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool known = bind(listener, any, size) == 0 && getsockname(listener, any, &size) == 0;
  close(listener);
  return known ? ntohs(address.sin_port) : 0;
}

Result<void> ServerProcess::start(std::vector<std::string> words,
                                  const std::function<bool()>& answers,
                                  const std::string& hint) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) become_server(arguments);
  const TimePoint give_up_at = BootClock::now() + 30s;
  while (!answers()) {
    const bool ended = waitpid(pid_, nullptr, WNOHANG) != 0;
    if (ended) pid_ = -1;
    if (!ended && BootClock::now() < give_up_at) {
      const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
      nanosleep(&pause, nullptr);
      continue;
    }
    return Unexpected{Error{Errc::unavailable, "no " + words[0] + " could be started", hint}};
  }
  return {};
}

ServerProcess::~ServerProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace holdfast::bench
