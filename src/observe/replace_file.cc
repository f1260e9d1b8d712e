#include "observe/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/unique_fd.h"

namespace holdfast::observe {
namespace {

/// Of this process's own: another may be replacing the same file.
std::string fresh_path(const std::string& path) {
  return path + "." + std::to_string(getpid()) + ".new";
}

UniqueFd create(const std::string& path) {
  constexpr mode_t kReadableByAll = 0644;
  return UniqueFd{open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll)};
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Error file_error(const std::string& path, int reason) {
  const Errc code = reason == EACCES || reason == EPERM    ? Errc::denied
                    : reason == ENOSPC || reason == EDQUOT ? Errc::no_space
                                                           : Errc::io_error;
  return {code, path + ": " + strerror(reason)};
}

Result<void> check_replaceable(const std::string& path) {
  const std::string fresh = fresh_path(path);
  const UniqueFd fd = create(fresh);
  if (!fd) return Unexpected{file_error(path, errno)};
  unlink(fresh.c_str());
  return {};
}

Result<void> replace_file(const std::string& path, std::string_view content) {
  const std::string fresh = fresh_path(path);
  const UniqueFd fd = create(fresh);
  if (!fd) return Unexpected{file_error(path, errno)};
  const bool done = write_all(fd.get(), content) && rename(fresh.c_str(), path.c_str()) == 0;
  if (done) return {};
  const int reason = errno;
  unlink(fresh.c_str());
  return Unexpected{file_error(path, reason)};
}

}  // namespace holdfast::observe
