#include "tests/interop/our_holder.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "holdfast/client.h"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

int hold(const std::string& url, const std::string& name) {
  auto client = Client::connect(url);
  if (!client) return 1;
  const auto lease = client->acquire(name, {.ttl = 2s});
  if (!lease) return 1;
  std::cout << "held" << std::endl;
  while (true) pause();
}

}  // namespace

OurHolder::OurHolder(const std::string& url, const std::string& name, Until until) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error{"no pipe"};
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::array<std::string, 4> words{self, "hold", url, name};
  std::array<char*, 5> arguments{
      words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int failed = posix_spawn(&pid_, self.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char held = 0;
  const bool does = failed == 0 && (until == Until::started || read(ends[0], &held, 1) == 1);
  close(ends[0]);
  if (!does) throw std::runtime_error{"it did not get the lock"};
}

void OurHolder::kill() {
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

int main_with_holders(int argc, char** argv) {
  if (argc == 4 && std::string{argv[1]} == "hold") return hold(argv[2], argv[3]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace holdfast::interop
