#include "engines/local/state_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "engines/local/file_lock.h"
#include "engines/local/identity.h"
#include "engines/local/state_dir.h"
#include "engines/local/survey.h"
#include "engines/local/token_clock.h"

namespace holdfast::local {
namespace {

// Room on the disk for the file up to `bytes`; errno's value otherwise.
int make_room(int fd, std::uint64_t bytes) {
  int code = EINTR;
  while (code == EINTR) code = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  return code;
}

constexpr std::uint64_t kGrowthMin = std::uint64_t{256} << 10;

Error damaged(const std::string& path, const std::string& what) {
  return {Errc::corrupt,
          path + " " + what,
          "nothing was changed; if no program uses it, move the file away and start anew: tokens "
          "go on from the clock and do not repeat"};
}

// The whole range a file may grow to is mapped at once; what lies beyond its end becomes usable as
// it grows. Where the address space is limited, a smaller range must do.
Result<std::pair<char*, std::uint64_t>> map(const std::string& path, int fd) {
  for (std::uint64_t bytes = kFileBytesMax; bytes >= kFileBytesMax >> 6; bytes >>= 1) {
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) continue;
    // A child would share the locks but not the threads that keep them: it gets nothing.
    madvise(base, bytes, MADV_DONTFORK);
    return std::pair{static_cast<char*>(base), bytes};
  }
  return Unexpected{os_error("cannot map", path, errno)};
}

bool same_file(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  if (fstat(fd, &opened) != 0 || stat(path.c_str(), &named) != 0) return false;
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

Result<std::uint64_t> size_of(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return Unexpected{os_error("cannot look at", path, errno)};
  if (!S_ISREG(status.st_mode)) return Unexpected{damaged(path, "is not a regular file")};
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

Result<std::unique_ptr<StateFile>> StateFile::open(const std::string& directory) {
  if (auto ready = prepare_directory(directory); !ready) return Unexpected{ready.error()};
  const std::string path = directory + "/locks";
  const TimePoint give_up = BootClock::now() + std::chrono::seconds{10};
  while (true) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0) return Unexpected{os_error("cannot open", path, errno)};
    auto presence = announce_presence(fd, path, give_up);
    if (presence && !same_file(fd, path)) {
      close(fd);
      continue;
    }
    auto mapped = map(path, fd);
    if (!mapped) return close(fd), Unexpected{mapped.error()};
    std::unique_ptr<StateFile> file{new StateFile{directory, fd, mapped->first, mapped->second}};
    if (!presence) return Unexpected{presence.error()};
    const auto size = size_of(fd, path);
    if (!size) return Unexpected{size.error()};
    if (*presence == Presence::alone) {
      if (auto prepared = file->prepare_alone(*size); !prepared) {
        return Unexpected{prepared.error()};
      }
      admit_others(fd);
      return file;
    }
    auto joined = file->join(*size);
    if (joined) return file;
    const bool preparation_broke_off = joined.error().code == Errc::unavailable;
    if (!preparation_broke_off || BootClock::now() > give_up) return Unexpected{joined.error()};
    std::this_thread::yield();
  }
}

StateFile::~StateFile() {
  munmap(base_, mapped_);
  close(fd_);
}

Result<void> StateFile::prepare_alone(std::uint64_t size) {
  // A file that was never finished has no magic: it is written last.
  const bool unfinished =
      size < kHeaderBytes || std::ranges::all_of(header().magic, [](char c) { return c == '\0'; });
  if (unfinished) {
    const bool ours = size == 0 || size == kFileBytesInitial;
    if (!ours) return Unexpected{damaged(path(), "is truncated, or not a Holdfast file")};
    if (auto created = create(); !created) return created;
    return begin_tokens();
  }
  if (auto checked = check_header(size); !checked) return checked;
  const bool rebooted = header().boot_id != boot_id();
  const Survey found = rebooted || header().ready.load() == 0 ? Survey::idle : survey(*this);
  if (found == Survey::damaged) return Unexpected{damaged(path(), "is damaged")};
  if (found == Survey::idle) {
    if (auto done = reset(); !done) return done;
  } else if (header().time_namespace != time_namespace()) {
    return Unexpected{Error{Errc::unsupported,
                            path() + " holds leases that another time namespace counts",
                            "use a directory of its own for each time namespace"}};
  }
  return begin_tokens();
}

Result<void> StateFile::join(std::uint64_t size) {
  const bool begun = size >= kHeaderBytes && header().magic[0] != '\0';
  if (!begun || header().ready.load() == 0) {
    return Unexpected{Error{Errc::unavailable, path() + " is being prepared by another process"}};
  }
  if (auto checked = check_header(size); !checked) return checked;
  if (header().time_namespace != time_namespace()) {
    return Unexpected{Error{Errc::unsupported,
                            path() + " is in use by processes of another time namespace",
                            "use a directory of its own for each time namespace"}};
  }
  return {};
}

Result<void> StateFile::check_header(std::uint64_t size) {
  const Header& head = header();
  if (head.magic != Header::kMagic) {
    return Unexpected{damaged(path(), "is not a Holdfast file")};
  }
  if (head.version != Header::kVersion || head.header_bytes != sizeof(Header)) {
    return Unexpected{Error{Errc::corrupt,
                            path() + " was written by another version of Holdfast (layout " +
                                std::to_string(head.version) + ", this is " +
                                std::to_string(Header::kVersion) + ")",
                            "use the same version everywhere, or another directory"}};
  }
  const bool resetting = head.ready.load() == 0;
  if (size < kHeapBegin || (!resetting && size < head.file_bytes.load())) {
    return Unexpected{damaged(path(), "is truncated")};
  }
  return {};
}

Result<void> StateFile::create() {
  if (const int code = make_room(fd_, kFileBytesInitial); code != 0) {
    return Unexpected{os_error("cannot make room for", path(), code)};
  }
  Header& head = header();
  head.version = Header::kVersion;
  head.header_bytes = sizeof(Header);
  if (getrandom(head.identity.data(), head.identity.size(), 0) < 0) {
    return Unexpected{os_error("cannot draw an identity for", path(), errno)};
  }
  head.magic = Header::kMagic;
  return reset();
}

Result<void> StateFile::reset() {
  Header& head = header();
  head.ready.store(0);
  if (ftruncate(fd_, kHeapBegin) != 0) {
    return Unexpected{os_error("cannot shorten", path(), errno)};
  }
  if (const int code = make_room(fd_, kFileBytesInitial); code != 0) {
    return Unexpected{os_error("cannot make room for", path(), code)};
  }
  std::memset(base_ + kHeaderBytes, 0, kIndexBytes);
  head.boot_id = boot_id();
  head.time_namespace = time_namespace();
  head.end_bytes.store(kHeapBegin);
  head.file_bytes.store(kFileBytesInitial);
  head.members.store(0);
  head.watched_until_ns.store(0);
  for (auto& list : head.free_lists) list.store(0);
  head.ready.store(1);
  return {};
}

Result<void> StateFile::begin_tokens() {
  Header& head = header();
  const std::uint64_t begin = std::max(
      {head.token_limit_written.load(), head.token_limit.load(), wall_ticks(), std::uint64_t{1}});
  head.token_limit_written.store(begin + kTokenBlockMin);
  if (auto synced = sync_header(); !synced) return synced;
  head.next_token.store(begin);
  head.pace_token.store(begin);
  head.pace_ns.store(BootClock::now().time_since_epoch().count());
  head.token_block.store(kTokenBlockMin);
  head.token_limit.store(begin + kTokenBlockMin);
  return {};
}

Result<void> StateFile::grow_to(std::uint64_t bytes) {
  Header& head = header();
  std::uint64_t size = head.file_bytes.load();
  if (bytes <= size) return {};
  const std::uint64_t target =
      std::min(mapped_, std::max(bytes, size + std::max(kGrowthMin, size / 4)));
  if (bytes > mapped_) {
    return Unexpected{Error{Errc::no_space, path() + " has reached its largest size"}};
  }
  if (const int code = make_room(fd_, target); code != 0) {
    return Unexpected{os_error("cannot extend", path(), code)};
  }
  while (size < target && !head.file_bytes.compare_exchange_weak(size, target)) {
  }
  return {};
}

Result<void> StateFile::sync_header() {
  const bool failed_before = poisoned_.load();
  if (!failed_before && msync(base_, kHeaderBytes, MS_SYNC) == 0) return {};
  poisoned_.store(true);
  return Unexpected{Error{Errc::io_error,
                          "cannot bring " + path() + " to the disk",
                          "check the disk, then start the program anew: no token is given out that "
                          "might be given out again"}};
}

bool StateFile::deleted() const { return !same_file(fd_, path()); }

}  // namespace holdfast::local
