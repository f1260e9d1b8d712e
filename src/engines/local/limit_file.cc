#include "engines/local/limit_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "engines/local/file_lock.h"
#include "engines/local/identity.h"
#include "engines/local/state_dir.h"

namespace holdfast::local {
namespace {

Error damaged(const std::string& path, const std::string& what) {
  return {Errc::corrupt,
          path + " " + what,
          "nothing was changed; if no program uses it, move the file away: every key begins anew"};
}

Result<std::uint64_t> size_of(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return Unexpected{os_error("cannot look at", path, errno)};
  if (!S_ISREG(status.st_mode)) return Unexpected{damaged(path, "is not a regular file")};
  return static_cast<std::uint64_t>(status.st_size);
}

bool same_file(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  if (fstat(fd, &opened) != 0 || stat(path.c_str(), &named) != 0) return false;
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

Result<std::unique_ptr<LimitFile>> LimitFile::open(const std::string& directory) {
  if (auto ready = prepare_directory(directory); !ready) return Unexpected{ready.error()};
  const std::string path = directory + "/limits";
  const TimePoint give_up = BootClock::now() + std::chrono::seconds{10};
  while (true) {
    UniqueFd fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600)};
    if (!fd) return Unexpected{os_error("cannot open", path, errno)};
    const auto presence = announce_presence(fd.get(), path, give_up);
    if (!presence) return Unexpected{presence.error()};
    if (!same_file(fd.get(), path)) continue;
    const auto size = size_of(fd.get(), path);
    if (!size) return Unexpected{size.error()};
    void* base =
        mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (base == MAP_FAILED) return Unexpected{os_error("cannot map", path, errno)};
    madvise(base, kFileBytes, MADV_DONTFORK);
    std::unique_ptr<LimitFile> file{new LimitFile{path, std::move(fd), static_cast<char*>(base)}};
    const bool alone = *presence == Presence::alone;
    const auto usable = alone ? file->prepare_alone(*size) : file->join(*size);
    if (usable && alone) admit_others(file->fd_.get());
    if (usable) return file;
    const bool preparation_broke_off = !alone && usable.error().code == Errc::unavailable;
    if (!preparation_broke_off || BootClock::now() > give_up) return Unexpected{usable.error()};
    std::this_thread::yield();
  }
}

LimitFile::~LimitFile() { munmap(base_, kFileBytes); }

Result<void> LimitFile::prepare_alone(std::uint64_t size) {
  // A file that was never finished has no magic: it is written last.
  const bool unfinished =
      size < kHeaderBytes || std::ranges::all_of(header().magic, [](char c) { return c == '\0'; });
  if (unfinished) {
    if (size != 0 && size != kFileBytes) {
      return Unexpected{damaged(path_, "is truncated, or not a Holdfast file")};
    }
    if (auto emptied = empty(); !emptied) return emptied;
    header().version = Header::kVersion;
    header().header_bytes = sizeof(Header);
    header().magic = Header::kMagic;
    return {};
  }
  if (auto checked = check_header(size); !checked) return checked;
  const Header& head = header();
  const bool counts_on = head.ready.load() != 0 && head.boot_id == boot_id() &&
                         head.time_namespace == time_namespace();
  return counts_on ? Result<void>{} : empty();
}

Result<void> LimitFile::join(std::uint64_t size) {
  if (size < kHeaderBytes || header().magic[0] == '\0' || header().ready.load() == 0) {
    return Unexpected{Error{Errc::unavailable, path_ + " is being prepared by another process"}};
  }
  if (auto checked = check_header(size); !checked) return checked;
  if (header().time_namespace == time_namespace()) return {};
  return Unexpected{Error{Errc::unsupported,
                          path_ + " is in use by processes of another time namespace",
                          "use a directory of its own for each time namespace"}};
}

Result<void> LimitFile::check_header(std::uint64_t size) {
  const Header& head = header();
  if (head.magic != Header::kMagic) return Unexpected{damaged(path_, "is not a Holdfast file")};
  if (head.version != Header::kVersion || head.header_bytes != sizeof(Header)) {
    return Unexpected{Error{Errc::corrupt,
                            path_ + " was written by another version of Holdfast (layout " +
                                std::to_string(head.version) + ", this is " +
                                std::to_string(Header::kVersion) + ")",
                            "use the same version everywhere, or another directory"}};
  }
  if (size != kFileBytes) return Unexpected{damaged(path_, "is truncated")};
  return {};
}

Result<void> LimitFile::empty() {
  int code = EINTR;
  while (code == EINTR) code = posix_fallocate(fd_.get(), 0, kFileBytes);
  if (code != 0) return Unexpected{os_error("cannot make room for", path_, code)};
  Header& head = header();
  head.ready.store(0);
  std::memset(base_ + kHeaderBytes, 0, kFileBytes - kHeaderBytes);
  head.boot_id = boot_id();
  head.time_namespace = time_namespace();
  head.ready.store(1);
  return {};
}

}  // namespace holdfast::local
