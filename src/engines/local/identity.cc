#include "engines/local/identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::local {

std::array<char, 40> boot_id() {
  std::array<char, 40> id{};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return id;
  const ssize_t got = ::read(fd, id.data(), 36);
  ::close(fd);
  return got == 36 ? id : std::array<char, 40>{};
}

std::uint64_t time_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/time", &status) == 0 ? status.st_ino : 0;
}

}  // namespace holdfast::local
