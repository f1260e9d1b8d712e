// Files by system call, with errors that say what to do.

#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast::files {

/// A file descriptor with one owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_{fd} {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  /// -1 when there is none.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_{-1};
};

using Status = Result<void, StoreError>;

/// What the system's error means to the caller: `cannot <action> <path>: <reason>`.
StoreError os_error(std::string_view action, const std::string& path, int code);

/// open(2), repeated when a signal comes in between.
Fd open_fd(const std::string& path, int flags, mode_t mode = 0);

/// Everything the file has.
Result<std::string, StoreError> read_all(const Fd& file, const std::string& path);

Status write_all(const Fd& file, std::string_view bytes, const std::string& path);

/// Its data and its metadata are on the disk.
Status sync(const Fd& file, const std::string& path);
/// The names in the directory are on the disk.
Status sync_directory(const std::string& directory);

/// Empty when there is no such file. invalid_argument when it is not a regular one.
Result<std::optional<struct stat>, StoreError> look_at(const std::string& path);

/// Gives a new file the owner, the group and the mode of the one it stands for or beside, as far as
/// permitted, and never more access than that one gave.
Status keep_access(const Fd& file, const struct stat& like, mode_t mode, const std::string& path);

std::uint64_t random_bits();

}  // namespace holdfast::files
