#include "client/fence_mark.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <ctime>

#include "base/backoff.h"

namespace holdfast::files {
namespace {

bool set_lock(const Fd& file, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  return fcntl(file.get(), F_OFD_SETLK, &range) == 0;
}

void pause_before_attempt(std::uint32_t attempt) {
  constexpr BackoffPolicy kPolicy{.first = std::chrono::microseconds{200},
                                  .max = std::chrono::milliseconds{10}};
  const Duration delay = backoff_delay(kPolicy, attempt, random_bits());
  const timespec span{.tv_sec = 0, .tv_nsec = static_cast<long>(delay.count())};
  ppoll(nullptr, 0, &span, nullptr);
}

Status wait_for_lock(const Fd& file, const std::string& path, TimePoint give_up) {
  for (std::uint32_t attempt = 0; !set_lock(file, F_WRLCK); ++attempt) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      return Unexpected{os_error("lock", path, errno)};
    }
    if (BootClock::now() >= give_up) {
      return Unexpected{
          StoreError{Errc::unavailable,
                     path + " is locked by another process and did not come free in time",
                     "find the process, stopped perhaps, that has the file open: fuser " + path}};
    }
    pause_before_attempt(attempt);
  }
  return {};
}

/// Whether the path still leads to the open file: somebody may have removed it while we waited.
bool is_still_there(const Fd& file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(file.get(), &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Not created in one step with the opening: in a sticky directory the kernel refuses O_CREAT for
/// a file that is somebody else's.
Fd open_or_create(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK;
  Fd file = open_fd(path, kFlags);
  if (!file && errno == ENOENT) file = open_fd(path, kFlags | O_CREAT, 0666);
  return file;
}

Unexpected<StoreError> damaged(const Location& where, const std::string& message) {
  return Unexpected{StoreError{Errc::corrupt,
                               where.fence() + " " + message,
                               "the content of " + where.path +
                                   " is untouched; when nobody holds its lock, move " +
                                   where.fence() + " away and acquire the lock anew"}};
}

}  // namespace

Result<FenceMark, StoreError> FenceMark::lock(const Location& where, TimePoint give_up) {
  const std::string path = where.fence();
  while (true) {
    Fd file = open_or_create(path);
    if (!file) return Unexpected{os_error("open", path, errno)};
    if (auto locked = wait_for_lock(file, path, give_up); !locked) {
      return Unexpected{std::move(locked).error()};
    }
    if (!is_still_there(file, path)) continue;
    FenceMark mark{where, std::move(file)};
    if (auto loaded = mark.load(); !loaded) return Unexpected{std::move(loaded).error()};
    return mark;
  }
}

FenceMark::~FenceMark() {
  // Not left to close(): a child forked meanwhile shares the lock until it ends.
  if (file_) set_lock(file_, F_UNLCK);
}

Status FenceMark::load() {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) return Unexpected{os_error("read", where_.fence(), errno)};
  if (!S_ISREG(status.st_mode) || status.st_size > off_t{2 * kSlotBytes}) {
    return damaged(where_, "is not a file of marks");
  }
  const auto bytes = read_all(file_, where_.fence());
  if (!bytes) return Unexpected{bytes.error()};
  // Made by a process that was killed, or a machine that stopped, before anything was kept.
  if (bytes->find_first_not_of('\0') == std::string::npos) return {};
  for (std::size_t start = 0; start < bytes->size(); start += kSlotBytes) {
    auto slot = decode(std::string_view{*bytes}.substr(start, kSlotBytes));
    if (slot && slot->generation > slot_.generation) slot_ = *std::move(slot);
  }
  if (slot_.generation == 0) return damaged(where_, "is damaged, or not a file of marks");
  return {};
}

Status FenceMark::prepare() {
  const auto file = look_at(where_.path);
  if (!file) return Unexpected{file.error()};
  struct stat ours {};
  if (fstat(file_.get(), &ours) != 0) return Unexpected{os_error("read", where_.fence(), errno)};
  // Who may write the file may write its marks.
  if (*file && ours.st_uid == geteuid()) {
    const mode_t mode = ((*file)->st_mode & 0666) | S_IRUSR | S_IWUSR;
    if (auto kept = keep_access(file_, **file, mode, where_.fence()); !kept) return kept;
  }
  return sync_directory(where_.directory);
}

Status FenceMark::keep(const FenceRecord& record) {
  if (slot_.generation == 0) {
    if (auto prepared = prepare(); !prepared) return prepared;
  }
  Slot next{.generation = slot_.generation + 1, .record = record};
  const auto bytes = encode(next);
  if (!bytes) {
    return Unexpected{StoreError{Errc::invalid_argument, "the lock's identity is too long"}};
  }
  const auto offset = static_cast<off_t>((next.generation - 1) % 2 * kSlotBytes);
  const ssize_t count = pwrite(file_.get(), bytes->data(), bytes->size(), offset);
  if (count < 0) return Unexpected{os_error("write", where_.fence(), errno)};
  if (static_cast<std::size_t>(count) != bytes->size()) {
    return Unexpected{os_error("write", where_.fence(), ENOSPC)};
  }
  if (fdatasync(file_.get()) != 0) return Unexpected{os_error("sync", where_.fence(), errno)};
  slot_ = std::move(next);
  return {};
}

}  // namespace holdfast::files
