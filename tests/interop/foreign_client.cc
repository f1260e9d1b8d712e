#include "tests/interop/foreign_client.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace holdfast::interop {

ForeignClient::ForeignClient(const std::vector<std::string>& command) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error{"no pipe"};
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  const int failed = posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
  if (failed != 0) throw std::runtime_error{"cannot start " + command[0]};
  if (answer() != "ready") throw std::runtime_error{command[0] + " is not ready"};
}

ForeignClient::~ForeignClient() {
  std::fclose(to_);
  std::fclose(from_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

std::string ForeignClient::ask(const std::string& line) {
  std::fputs((line + '\n').c_str(), to_);
  std::fflush(to_);
  return answer();
}

std::string ForeignClient::answer() {
  std::string line;
  for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
    if (c == EOF) throw std::runtime_error{"the foreign client has ended"};
    line += static_cast<char>(c);
  }
  return line;
}

}  // namespace holdfast::interop
