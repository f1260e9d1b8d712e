#include "engines/local/file_lock.h"

#include <fcntl.h>

#include <cerrno>
#include <ctime>

#include "base/assert.h"
#include "engines/local/state_dir.h"

namespace holdfast::local {
namespace {

bool lock(int fd, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = 0;
  range.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool held_elsewhere() { return errno == EAGAIN || errno == EACCES; }

}  // namespace

Result<Presence> announce_presence(int fd, const std::string& path, TimePoint give_up) {
  while (true) {
    if (lock(fd, F_WRLCK)) return Presence::alone;
    if (!held_elsewhere()) return Unexpected{os_error("cannot lock", path, errno)};
    if (lock(fd, F_RDLCK)) return Presence::among_others;
    if (!held_elsewhere()) return Unexpected{os_error("cannot lock", path, errno)};
    if (BootClock::now() > give_up) {
      return Unexpected{Error{Errc::unavailable,
                              path + " has been held for preparation by another process too long",
                              "find the process, stopped perhaps, that has the file open"}};
    }
    constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&kMoment, nullptr);
  }
}

void admit_others(int fd) {
  const bool shared = lock(fd, F_RDLCK);
  HOLDFAST_ASSERT(shared);
}

}  // namespace holdfast::local
