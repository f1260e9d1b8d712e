#include "cli/store/value_input.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace holdfast::cli {

bool stdin_brings_a_value() {
  struct stat about {};
  if (fstat(STDIN_FILENO, &about) != 0) return false;
  return S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode) || S_ISSOCK(about.st_mode);
}

Result<std::string> read_stdin(std::size_t limit) {
  std::string bytes;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t size = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return Unexpected{
          Error{Errc::io_error, fmt::format("stdin cannot be read: {}", std::strerror(errno))}};
    }
    if (size == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(size));
    if (bytes.size() > limit) {
      return Unexpected{Error{Errc::invalid_argument,
                              fmt::format("the value on stdin has more than {} bytes", limit),
                              "use at most 1 MiB (1048576 bytes), or --file"}};
    }
  }
}

}  // namespace holdfast::cli
