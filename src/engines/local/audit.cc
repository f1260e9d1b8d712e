#include "engines/local/audit.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/wall_clock.h"
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

std::string describe(const holdfast::Contender& holder) {
  return "{\"token\":" + std::to_string(holder.token.value()) +
         ",\"owner_fp\":" + quoted(holder.owner_fp) + ",\"host\":" + quoted(holder.host) +
         ",\"pid\":" + std::to_string(holder.pid) + ",\"label\":" + quoted(holder.label) + "}";
}

std::string begin_line(std::string_view action) {
  return "{\"at_ms\":" + std::to_string(wall_ms()) + ",\"action\":" + quoted(action) +
         ",\"uid\":" + std::to_string(getuid()) + ",\"pid\":" + std::to_string(getpid());
}

Result<void> append(const std::string& directory, const std::string& line) {
  const std::string path = directory + "/audit.log";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return Unexpected{os_error("cannot open", path, errno)};
  const ssize_t written = write(fd, line.data(), line.size());
  const int code = written < 0 ? errno : ENOSPC;
  close(fd);
  if (written == static_cast<ssize_t>(line.size())) return {};
  return Unexpected{os_error("cannot write", path, code)};
}

}  // namespace

Result<void> audit_break(const std::string& directory, const LockInfo& lock, std::string_view why) {
  std::string line = begin_line("break") + ",\"lock\":" + quoted(lock.name) +
                     ",\"why\":" + quoted(why) + ",\"holders\":[";
  for (const holdfast::Contender& holder : lock.holders) {
    if (line.back() != '[') line += ',';
    line += describe(holder);
  }
  return append(directory, line + "]}\n");
}

Result<void> audit_rebase(const std::string& directory, const RebaseRecord& record) {
  return append(directory,
                begin_line("rebase") + ",\"resource\":" + quoted(record.resource) +
                    ",\"why\":" + quoted(record.why) + ",\"from\":" + quoted(record.from) +
                    ",\"to\":" + quoted(record.to) +
                    ",\"highest\":" + std::to_string(record.highest.value()) + "}\n");
}

}  // namespace holdfast::local
