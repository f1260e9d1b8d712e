#include "lab/actor.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr std::chrono::minutes kPatience{10};

Unexpected<Error> system_error(const char* what) {
  return Unexpected{Error{Errc::io_error, std::string{what} + ": " + std::strerror(errno)}};
}

// The director decides when its processes end: they neither outlive it nor go before it.
void follow_the_director(pid_t director) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != director) _exit(0);
}

Result<void> await_change(pid_t pid, int signal, int options) {
  if (kill(pid, signal) != 0) return system_error("cannot signal a process of the demonstration");
  int status = 0;
  while (waitpid(pid, &status, options) < 0) {
    if (errno != EINTR) return system_error("cannot wait for a process of the demonstration");
  }
  if (WIFSTOPPED(status) || WIFCONTINUED(status)) return {};
  return Unexpected{Error{Errc::internal, "a process of the demonstration ended too early"}};
}

}  // namespace

Result<Actor> Actor::start(const Role& role, int interrupt) {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return system_error("cannot make a channel");
  }
  const pid_t director = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    close(sockets[0]);
    follow_the_director(director);
    work(sockets[1], role);
  }
  close(sockets[1]);
  if (pid < 0) {
    const auto error = system_error("cannot start a process");
    close(sockets[0]);
    return error;
  }
  return Actor{pid, sockets[0], interrupt};
}

Actor::Actor(Actor&& other) noexcept
    : pid_{std::exchange(other.pid_, 0)},
      socket_{std::exchange(other.socket_, -1)},
      interrupt_{other.interrupt_} {}

Actor::~Actor() {
  if (pid_ == 0) return;
  close(socket_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Result<void> Actor::send(const Command& command) {
  if (::send(socket_, &command, sizeof command, MSG_NOSIGNAL) < 0) {
    return system_error("cannot reach a process of the demonstration");
  }
  return {};
}

Result<Report> Actor::receive() {
  std::array<pollfd, 2> events{pollfd{socket_, POLLIN, 0}, {interrupt_, POLLIN, 0}};
  const int bound = static_cast<int>(Millis{kPatience}.count());
  int ready = 0;
  do {
    ready = poll(events.data(), events.size(), bound);
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return system_error("cannot wait for an answer");
  if (events[1].revents != 0) return Unexpected{Error{Errc::cancelled, "interrupted"}};
  if (ready == 0) {
    return Unexpected{Error{Errc::timeout, "a process of the demonstration does not answer"}};
  }
  Report report;
  if (recv(socket_, &report, sizeof report, 0) == static_cast<ssize_t>(sizeof report)) {
    return report;
  }
  return Unexpected{Error{Errc::internal, "a process of the demonstration ended too early"}};
}

Result<void> Actor::stop() { return await_change(pid_, SIGSTOP, WUNTRACED); }

Result<void> Actor::resume() { return await_change(pid_, SIGCONT, WCONTINUED); }

}  // namespace holdfast::lab
