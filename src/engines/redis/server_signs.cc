#include "engines/redis/server_signs.h"

#include <string_view>

#include "base/decimal.h"
#include "holdfast/options.h"

namespace holdfast::redis {
namespace {

/// What stands between `name` and the end of the line, or `until` if that comes first.
std::string_view field(std::string_view info, std::string_view name, char until = '\r') {
  std::size_t at = info.find(name);
  while (at != std::string_view::npos && at > 0 && info[at - 1] != '\n') {
    at = info.find(name, at + 1);
  }
  if (at == std::string_view::npos) return {};
  const std::string_view rest = info.substr(at + name.size());
  const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
  return line.substr(0, line.find(until));
}

std::uint64_t count(std::string_view info, std::string_view name, char until = '\r') {
  return parse_decimal<std::uint64_t>(field(info, name, until)).value_or(0);
}

}  // namespace

const Script kSignsScript{"signs", R"lua(
local answer = {}
for _, section in ipairs({'server', 'replication', 'stats', 'commandstats'}) do
  local info = redis.pcall('INFO', section)
  answer[#answer + 1] = type(info) == 'string' and info or ''
end
local time = redis.call('TIME')
answer[#answer + 1] = string.format('%.0f', time[1] * 1000000 + time[2])
return answer
)lua"};

std::optional<ServerSigns> read_signs(const Reply& reply, TimePoint sent_at, TimePoint heard_at) {
  if (reply.kind != Reply::Kind::array || reply.items.size() != 5) return std::nullopt;
  const std::string& commands = reply.items[3].text;
  ServerSigns signs{
      .run_id = std::string{field(reply.items[0].text, "run_id:")},
      .uptime = std::chrono::seconds{count(reply.items[0].text, "uptime_in_seconds:")},
      .replication_id = std::string{field(reply.items[1].text, "master_replid:")},
      .evicted_keys = count(reply.items[2].text, "evicted_keys:"),
      .flushes = count(commands, "cmdstat_flushall:calls=", ',') +
                 count(commands, "cmdstat_flushdb:calls=", ','),
      .wall_clock =
          std::chrono::microseconds{parse_decimal<std::int64_t>(reply.items[4].text).value_or(0)},
      .sent_at = sent_at,
      .heard_at = heard_at};
  if (signs.run_id.empty()) return std::nullopt;
  return signs;
}

std::optional<ServerChange> what_happened(const ServerSigns& before, const ServerSigns& after) {
  const Duration since = after.heard_at - before.sent_at;
  if (after.run_id != before.run_id) {
    // It counts whole seconds. Who was there at the last look already has taken over from it.
    const bool started_since = after.uptime <= since + std::chrono::seconds{1};
    return ServerChange{started_since ? core::Fate::restarted : core::Fate::failed_over};
  }
  if (after.replication_id != before.replication_id) return ServerChange{core::Fate::failed_over};
  if (after.flushes > before.flushes) return ServerChange{core::Fate::flushed};
  if (after.evicted_keys > before.evicted_keys) return ServerChange{core::Fate::evicted};
  // However long the answers were on their way. Less ends no lease, and clocks are never quite
  // alike.
  const Duration ahead = after.wall_clock - before.wall_clock - since;
  if (ahead > kTtlMin / 2) return ServerChange{core::Fate::clock_stepped, ahead};
  return std::nullopt;
}

}  // namespace holdfast::redis
