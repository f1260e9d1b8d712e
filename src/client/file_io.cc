#include "client/file_io.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/secret.h"

namespace holdfast::files {
namespace {

struct Meaning {
  Errc code;
  const char* remedy;
};

Meaning meaning_of(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
      return {Errc::denied,
              "give this user write permission on the file, its directory and its .fence file"};
    case EROFS:
      return {Errc::denied, "the file system is read-only: use a writable one"};
    case ENOENT:
      return {Errc::not_found, "check the path, and create the directory first"};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return {Errc::no_space, "free some space, or raise the limit; the old content is untouched"};
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return {Errc::invalid_argument, "give the path of a regular file"};
    default:
      return {Errc::io_error, "check the file system; the old content is untouched"};
  }
}

}  // namespace

StoreError os_error(std::string_view action, const std::string& path, int code) {
  const Meaning meaning = meaning_of(code);
  return {meaning.code,
          "cannot " + std::string{action} + " " + path + ": " + std::strerror(code),
          meaning.remedy};
}

Fd open_fd(const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  do fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return Fd{fd};
}

Result<std::string, StoreError> read_all(const Fd& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return Unexpected{os_error("read", path, errno)};
  // One more than there should be, so that the end is met without growing.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t done = 0;
  while (true) {
    if (done == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Unexpected{os_error("read", path, errno)};
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Status write_all(const Fd& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Unexpected{os_error("write", path, errno)};
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Status sync(const Fd& file, const std::string& path) {
  if (fsync(file.get()) == 0) return {};
  return Unexpected{os_error("sync", path, errno)};
}

Status sync_directory(const std::string& directory) {
  const Fd opened = open_fd(directory, O_RDONLY | O_DIRECTORY);
  if (!opened) return Unexpected{os_error("open", directory, errno)};
  return sync(opened, directory);
}

Result<std::optional<struct stat>, StoreError> look_at(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::optional<struct stat>{};
    return Unexpected{os_error("look at", path, errno)};
  }
  if (S_ISREG(status.st_mode)) return std::optional{status};
  return Unexpected{StoreError{
      Errc::invalid_argument, path + " is not a regular file", "give the path of a regular file"}};
}

Status keep_access(const Fd& file, const struct stat& like, mode_t mode, const std::string& path) {
  if (fchown(file.get(), like.st_uid, static_cast<gid_t>(-1)) != 0) mode &= ~mode_t{S_ISUID};
  // What was for the old group is not for ours.
  if (fchown(file.get(), static_cast<uid_t>(-1), like.st_gid) != 0) {
    mode &= ~mode_t{S_ISGID | S_IRWXG};
  }
  // Last: a change of owner takes bits away.
  if (fchmod(file.get(), mode) == 0) return {};
  return Unexpected{os_error("set the mode of", path, errno)};
}

std::uint64_t random_bits() {
  const Owner drawn = fresh_owner();
  std::uint64_t bits = 0;
  std::memcpy(&bits, drawn.bytes().data(), sizeof bits);
  return bits;
}

}  // namespace holdfast::files
