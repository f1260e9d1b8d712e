#include "cli/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"

namespace holdfast::cli {
namespace {

Unexpected<Error> failed(const char* what) {
  return Unexpected{Error{Errc::io_error, fmt::format("{}: {}", what, std::strerror(errno))}};
}

std::string_view name_of(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<char*> environment_with(const std::vector<std::string>& assignments) {
  std::vector<char*> result = pointers(assignments);
  result.pop_back();
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const bool replaced = std::ranges::any_of(assignments, [&](const std::string& assignment) {
      return name_of(assignment) == name_of(*inherited);
    });
    if (!replaced) result.push_back(*inherited);
  }
  result.push_back(nullptr);
  return result;
}

/// The input as a file in memory: nobody has to write while the program reads.
Result<UniqueFd> file_of(std::string_view input) {
  UniqueFd file{memfd_create("holdfast-input", MFD_CLOEXEC)};
  if (!file) return failed("no memory for the program's input");
  while (!input.empty()) {
    const ssize_t size = write(file.get(), input.data(), input.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed("no memory for the program's input");
    input.remove_prefix(static_cast<std::size_t>(size));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// Whether all of it fitted.
bool read_up_to(int fd, std::size_t limit, std::string& bytes) {
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t size = read(fd, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    const std::size_t room = limit - bytes.size();
    bytes.append(chunk.data(), std::min(room, static_cast<std::size_t>(size)));
    if (static_cast<std::size_t>(size) > room) return false;
  }
}

/// 0, or the errno of a program that could not be started.
int spawn(const CaptureSpec& spec, int input, int output, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (input >= 0) posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (spec.signal_mask) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &*spec.signal_mask);
  }
  const auto argv = pointers(spec.program);
  const auto envp = environment_with(spec.environment);
  const int error = posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

Result<Captured> run_captured(const CaptureSpec& spec) {
  UniqueFd input;
  if (spec.input) {
    auto file = file_of(*spec.input);
    if (!file) return Unexpected{std::move(file).error()};
    input = std::move(*file);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed("no pipe for the program's output");
  UniqueFd reader{ends[0]};
  UniqueFd writer{ends[1]};
  // With SIGCHLD ignored, as some parents leave it, nobody could learn how the program ended.
  std::signal(SIGCHLD, SIG_DFL);
  Captured captured;
  pid_t pid = 0;
  captured.start_error = spawn(spec, spec.input ? input.get() : -1, writer.get(), pid);
  if (captured.start_error != 0) return captured;
  writer.reset();
  captured.too_long = !read_up_to(reader.get(), spec.limit, captured.output);
  reader.reset();
  while (waitpid(pid, &captured.wait_status, 0) < 0 && errno == EINTR) {
  }
  return captured;
}

Error could_not_start(const std::string& program, int error) {
  return {Errc::invalid_argument,
          fmt::format("cannot run '{}': {}", program, std::strerror(error)),
          "check the program's name, its permissions and PATH"};
}

}  // namespace holdfast::cli
