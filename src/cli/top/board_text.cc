#include "cli/top/board_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <functional>
#include <utility>

#include "cli/duration.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kNameMin = 12;
constexpr std::size_t kNameMax = 40;

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues(byte); }));
}

/// The first columns of a text in UTF-8.
std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues(text[at]) && columns-- == 0) break;
  }
  return text.substr(0, at);
}

std::string padded(std::string_view text, std::size_t columns) {
  std::string out{cut(text, columns)};
  out.append(columns - width(out), ' ');
  return out;
}

std::string mode_of(const LockInfo& lock) {
  if (lock.mode != Mode::permit) return std::string{to_string(lock.mode)};
  return fmt::format("permit/{}", lock.permits);
}

std::string who(const BoardRow& row) {
  if (row.lock.holders.empty()) return row.lock.delay > Millis{0} ? "(lock-delay)" : "-";
  const Contender& first = row.lock.holders.front();
  std::string text =
      first.foreign ? "another program" : fmt::format("{}:{}", printable(first.host), first.pid);
  if (!first.label.empty()) text += fmt::format(" \"{}\"", printable(first.label));
  return text;
}

std::string or_dash(Millis time) { return time > Millis{0} ? format_duration(time) : "-"; }

std::string cells(const BoardRow& row) {
  const std::string rate = row.hand_overs_s ? fmt::format("{:.1f}", *row.hand_overs_s) : "-";
  return fmt::format("  {:<10} {:>7} {:>7} {:>9} {:>11} {:>9}  {}",
                     mode_of(row.lock),
                     row.lock.holders.size(),
                     row.lock.waiters.size(),
                     or_dash(row.longest_wait),
                     rate,
                     or_dash(row.longest_hold),
                     who(row));
}

std::string heading() {
  return fmt::format("  {:<10} {:>7} {:>7} {:>9} {:>11} {:>9}  {}",
                     "MODE",
                     "HOLDERS",
                     "WAITERS",
                     "WAITING",
                     "HAND-OVER/S",
                     "HELD",
                     "HOLDER");
}

std::string summary(const BoardHead& head, const std::vector<BoardRow>& rows) {
  std::size_t contended = 0;
  std::size_t waiting = 0;
  for (const BoardRow& row : rows) {
    contended += row.lock.waiters.empty() ? 0 : 1;
    waiting += row.lock.waiters.size();
  }
  return fmt::format("{}  {} locks, {} contended, {} waiting  {}",
                     wall_time(head.wall_ms),
                     rows.size(),
                     contended,
                     waiting,
                     printable(head.engine));
}

std::size_t name_width(const std::vector<BoardRow>& rows) {
  std::size_t longest = kNameMin;
  for (const BoardRow& row : rows) longest = std::max(longest, width(printable(row.lock.name)));
  return std::min(longest, kNameMax);
}

using Refused = std::pair<std::string, observe::RefusalRecord::Refused>;

/// The last refused first.
std::vector<Refused> refused_resources(const observe::RefusalRecord& refusals) {
  std::vector<Refused> resources{refusals.resources.begin(), refusals.resources.end()};
  std::ranges::stable_sort(
      resources, std::greater{}, [](const Refused& one) { return one.second.last_ms; });
  return resources;
}

std::string how_long_ago(std::int64_t now_ms, std::int64_t then_ms) {
  const auto ago = std::chrono::floor<std::chrono::seconds>(Millis{now_ms - then_ms});
  // The clock of another host may be ahead.
  return ago > ago.zero() ? format_duration(ago) + " ago" : "now";
}

std::string foot(const BoardHead& head) {
  std::string text = "Refused stale writes and reads: ";
  if (!head.refusals) return text + "-";
  text += std::to_string(head.refusals->total);
  if (head.refusals->total > 0) text += " since " + wall_time(head.refusals->since_ms);
  for (const auto& [key, refused] : refused_resources(*head.refusals)) {
    text += fmt::format(
        ", {} {} ({})", printable(key), refused.count, how_long_ago(head.wall_ms, refused.last_ms));
  }
  return text;
}

boost::json::value refusals_json(const BoardHead& head) {
  if (!head.refusals) return nullptr;
  boost::json::array resources;
  for (const auto& [key, refused] : refused_resources(*head.refusals)) {
    resources.push_back(boost::json::object{
        {"key", to_utf8(key)}, {"count", refused.count}, {"last_ms", refused.last_ms}});
  }
  boost::json::value since = nullptr;
  if (head.refusals->since_ms != 0) since = head.refusals->since_ms;
  return boost::json::object{{"total", head.refusals->total},
                             {"since_ms", std::move(since)},
                             {"resources", std::move(resources)}};
}

}  // namespace

std::vector<std::string> board_lines(const BoardHead& head,
                                     const std::vector<BoardRow>& rows,
                                     ScreenSize size,
                                     const Paint& paint) {
  // Summary, heading and the line at the foot.
  constexpr std::size_t kFrame = 3;
  std::vector<std::string> lines;
  const auto add = [&](std::string_view text, Tone tone) {
    lines.push_back(paint(cut(text, size.columns), tone));
  };
  add(summary(head, rows), Tone::plain);
  const std::size_t names = name_width(rows);
  add(padded("NAME", names) + heading(), Tone::faint);
  const std::size_t room = size.lines == 0 ? rows.size() : std::max(size.lines, kFrame) - kFrame;
  for (const BoardRow& row : rows) {
    if (lines.size() == room + 2) break;
    const std::string name = padded(printable(row.lock.name), names);
    const std::string line = name + cells(row);
    const std::string_view shown = cut(line, size.columns);
    const std::size_t split = std::min(name.size(), shown.size());
    const Tone tone = row.lock.waiters.empty() ? Tone::name : Tone::waiting;
    lines.push_back(paint(shown.substr(0, split), tone) + std::string{shown.substr(split)});
  }
  if (head.trouble) {
    add(printable(head.trouble->message), Tone::bad);
  } else {
    add(foot(head), Tone::faint);
  }
  return lines;
}

boost::json::object board_json(const BoardHead& head, const std::vector<BoardRow>& rows) {
  boost::json::array locks;
  for (const BoardRow& row : rows) {
    boost::json::object lock = lock_json(row.lock, head.engine);
    lock.erase("engine");
    lock["longest_wait_ms"] = row.longest_wait.count();
    lock["longest_hold_ms"] = row.longest_hold.count();
    lock["hand_overs_s"] = nullptr;
    if (row.hand_overs_s) lock["hand_overs_s"] = *row.hand_overs_s;
    locks.push_back(std::move(lock));
  }
  return {{"engine", head.engine},
          {"time_ms", head.wall_ms},
          {"locks", std::move(locks)},
          {"stale_refusals", refusals_json(head)}};
}

}  // namespace holdfast::cli
