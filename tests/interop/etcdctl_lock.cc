#include "tests/interop/etcdctl_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>
#include <vector>

namespace holdfast::interop {

EtcdctlLock::EtcdctlLock(const std::string& endpoint, const std::string& name, int ttl_seconds) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
  std::vector<std::string> words{HOLDFAST_ETCDCTL,
                                 "--endpoints=" + endpoint,
                                 "lock",
                                 name,
                                 "--ttl=" + std::to_string(ttl_seconds)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  const int failed =
      posix_spawn(&pid_, HOLDFAST_ETCDCTL, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  output_ = pipe_ends[0];
  if (failed != 0) throw std::runtime_error{"etcdctl does not start"};
}

EtcdctlLock::~EtcdctlLock() {
  end(SIGKILL);
  close(output_);
}

std::string EtcdctlLock::key(Millis patience) {
  const TimePoint until = BootClock::now() + patience;
  while (said_.find('\n') == std::string::npos) {
    const auto left = std::chrono::ceil<Millis>(until - BootClock::now());
    pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(std::max(left.count(), Millis::rep{0}))) <= 0) return {};
    char text[256];
    const ssize_t count = read(output_, text, sizeof text);
    if (count <= 0) return {};
    said_.append(text, static_cast<std::size_t>(count));
  }
  return said_.substr(0, said_.find('\n'));
}

void EtcdctlLock::release() { end(SIGINT); }

void EtcdctlLock::kill() { end(SIGKILL); }

void EtcdctlLock::end(int signal) {
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return;
  ::kill(pid, signal);
  waitpid(pid, nullptr, 0);
}

}  // namespace holdfast::interop
