#include "tests/contract/wire.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace holdfast::contract {

std::string join(const Fields& fields) {
  std::string line;
  for (const std::string& field : fields) line.append(field).push_back('\t');
  line.back() = '\n';
  return line;
}

Fields split(std::string_view line) {
  Fields fields;
  std::size_t at = 0;
  for (std::size_t tab = line.find('\t'); tab != std::string_view::npos;
       tab = line.find('\t', at)) {
    fields.emplace_back(line.substr(at, tab - at));
    at = tab + 1;
  }
  fields.emplace_back(line.substr(at));
  return fields;
}

std::int64_t to_number(const std::string& field) { return std::stoll(field); }

std::string from_time(TimePoint time) { return std::to_string(time.time_since_epoch().count()); }

TimePoint to_time(const std::string& field) { return TimePoint{Duration{to_number(field)}}; }

Fields from_options(const AcquireOptions& options) {
  return {std::to_string(static_cast<int>(options.mode)),
          std::to_string(options.permits),
          std::to_string(options.ttl.count()),
          std::to_string(options.wait.count()),
          std::to_string(static_cast<int>(options.kind)),
          std::to_string(options.lock_delay.count()),
          std::string{options.label},
          std::string{options.trace_id}};
}

AcquireOptions to_options(const Fields& fields, std::size_t at) {
  return {.mode = static_cast<Mode>(to_number(fields[at])),
          .permits = static_cast<std::uint32_t>(to_number(fields[at + 1])),
          .ttl = Millis{to_number(fields[at + 2])},
          .wait = Millis{to_number(fields[at + 3])},
          .kind = static_cast<LeaseKind>(to_number(fields[at + 4])),
          .lock_delay = Millis{to_number(fields[at + 5])},
          .label = fields[at + 6],
          .trace_id = fields[at + 7]};
}

void write_line(int fd, const Fields& fields) {
  const std::string line = join(fields);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = write(fd, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    // The other side was killed, as tests do.
    if (count < 0 && errno == EPIPE) return;
    if (count < 0) std::abort();
    done += static_cast<std::size_t>(count);
  }
}

bool LineReader::next(Fields& fields) {
  std::size_t end = buffer_.find('\n');
  while (end == std::string::npos) {
    std::array<char, 4096> chunk{};
    const ssize_t count = read(fd_, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    end = buffer_.find('\n');
  }
  fields = split(std::string_view{buffer_}.substr(0, end));
  buffer_.erase(0, end + 1);
  return true;
}

}  // namespace holdfast::contract
