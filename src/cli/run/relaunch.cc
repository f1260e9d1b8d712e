#include "cli/run/relaunch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr const char* kSelf = "/proc/self/exe";

/// Told from one life of the process to the next, and to nobody else.
constexpr const char* kMark = "HOLDFAST_RELAUNCHED";

std::vector<std::string> own_words() {
  std::ifstream file{"/proc/self/cmdline", std::ios::binary};
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

Error failed(const std::string& what) { return {Errc::io_error, what + ": " + strerror(errno)}; }

}  // namespace

Result<Relaunch> Relaunch::prepare() {
  Relaunch relaunch;
  relaunch.words_ = own_words();
  if (relaunch.words_.empty()) return Unexpected{failed("cannot read /proc/self/cmdline")};
  relaunch.input_ = UniqueFd{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)};
  relaunch.output_ = UniqueFd{fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
  pthread_sigmask(SIG_SETMASK, nullptr, &relaunch.signal_mask_);
  relaunch.on_broken_pipe_ = std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGPIPE, relaunch.on_broken_pipe_);
  relaunch.repetition_ = std::getenv(kMark) != nullptr;
  unsetenv(kMark);
  return relaunch;
}

Error Relaunch::begin_anew(int pause_ms) const {
  if (input_) dup2(input_.get(), STDIN_FILENO);
  if (output_) dup2(output_.get(), STDOUT_FILENO);
  std::signal(SIGPIPE, on_broken_pipe_);
  pthread_sigmask(SIG_SETMASK, &signal_mask_, nullptr);
  poll(nullptr, 0, pause_ms);
  std::vector<char*> argv;
  for (const std::string& word : words_) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  setenv(kMark, "1", 1);
  execv(kSelf, argv.data());
  return failed("cannot begin anew");
}

}  // namespace holdfast::cli
