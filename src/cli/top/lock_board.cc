#include "cli/top/lock_board.h"

#include <algorithm>
#include <tuple>

namespace holdfast::cli {
namespace {

/// Over how long hand-overs are counted, and a lock that is free is remembered.
constexpr Duration kWindow = std::chrono::seconds{10};

Millis longest(const std::vector<Contender>& contenders, std::int64_t wall_ms) {
  std::int64_t longest = 0;
  for (const Contender& one : contenders) {
    // Some engines do not know since when.
    if (one.since_ms > 0) longest = std::max(longest, wall_ms - one.since_ms);
  }
  return Millis{longest};
}

auto rank(const BoardRow& row) {
  return std::tuple{row.lock.waiters.size(),
                    row.longest_wait,
                    row.hand_overs_s.value_or(0),
                    row.lock.holders.size()};
}

bool comes_first(const BoardRow& a, const BoardRow& b) {
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.lock.name < b.lock.name;
}

}  // namespace

std::optional<double> LockBoard::rate(const Track& track, TimePoint now) const {
  const Duration known = std::min<Duration>(now - track.known_since, kWindow);
  if (known <= Duration{0}) return std::nullopt;
  return static_cast<double>(track.hand_overs.size()) /
         std::chrono::duration<double>{known}.count();
}

BoardRow LockBoard::to_row(LockInfo lock, TimePoint now, std::int64_t wall_ms) {
  std::vector<Holder> holders;
  for (const Contender& one : lock.holders) holders.emplace_back(one.owner_fp, one.token);
  const auto [found, is_new] = tracks_.try_emplace(lock.name);
  Track& track = found->second;
  if (is_new) {
    track.known_since = now;
  } else {
    for (const Holder& holder : holders) {
      const bool had_it = std::ranges::find(track.holders, holder) != track.holders.end();
      if (!had_it) track.hand_overs.push_back(now);
    }
  }
  while (!track.hand_overs.empty() && track.hand_overs.front() <= now - kWindow) {
    track.hand_overs.pop_front();
  }
  // Who held it last is still that while nobody does.
  if (!holders.empty()) track.holders = std::move(holders);
  track.seen_at = now;
  BoardRow row{.lock = std::move(lock), .hand_overs_s = rate(track, now)};
  row.longest_wait = longest(row.lock.waiters, wall_ms);
  row.longest_hold = longest(row.lock.holders, wall_ms);
  return row;
}

void LockBoard::look(std::vector<LockInfo> locks, TimePoint now, std::int64_t wall_ms) {
  rows_.clear();
  for (LockInfo& lock : locks) rows_.push_back(to_row(std::move(lock), now, wall_ms));
  // A lock that is taken and released often is free at many looks.
  std::erase_if(tracks_,
                [now](const auto& entry) { return entry.second.seen_at <= now - kWindow; });
  std::ranges::sort(rows_, comes_first);
}

}  // namespace holdfast::cli
