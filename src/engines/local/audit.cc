#include "engines/local/audit.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "engines/local/state_dir.h"

namespace holdfast::local {
namespace {

std::string quoted(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::int64_t wall_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string describe(const holdfast::Contender& holder) {
  return "{\"token\":" + std::to_string(holder.token.value()) +
         ",\"owner_fp\":" + quoted(holder.owner_fp) + ",\"host\":" + quoted(holder.host) +
         ",\"pid\":" + std::to_string(holder.pid) + ",\"label\":" + quoted(holder.label) + "}";
}

}  // namespace

Result<void> audit_break(const std::string& directory, const LockInfo& lock, std::string_view why) {
  std::string line = "{\"at_ms\":" + std::to_string(wall_ms()) +
                     ",\"action\":\"break\",\"lock\":" + quoted(lock.name) +
                     ",\"why\":" + quoted(why) + ",\"uid\":" + std::to_string(getuid()) +
                     ",\"pid\":" + std::to_string(getpid()) + ",\"holders\":[";
  for (const holdfast::Contender& holder : lock.holders) {
    if (line.back() != '[') line += ',';
    line += describe(holder);
  }
  line += "]}\n";
  const std::string path = directory + "/audit.log";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return Unexpected{os_error("cannot open", path, errno)};
  const ssize_t written = write(fd, line.data(), line.size());
  const int code = written < 0 ? errno : ENOSPC;
  close(fd);
  if (written == static_cast<ssize_t>(line.size())) return {};
  return Unexpected{os_error("cannot write", path, code)};
}

}  // namespace holdfast::local
