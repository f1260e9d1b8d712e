// What `top` shows: the locks of successive looks at an engine, and what changed between them.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/inspect.h"

namespace holdfast::cli {

struct BoardRow {
  LockInfo lock{};
  /// Of those who wait now, by their own clocks. Zero: nobody waits.
  Millis longest_wait{0};
  /// Of the holders, the one that has held for longest.
  Millis longest_hold{0};
  /// Seen to pass from one holder to another, per second, also if it was free at looks in between.
  /// Empty: not seen before, or not for ten seconds.
  std::optional<double> hand_overs_s{};
};

/// Thread safety: none.
class LockBoard {
 public:
  /// Takes in a look at `now`, with the wall clock at `wall_ms`.
  void look(std::vector<LockInfo> locks, TimePoint now, std::int64_t wall_ms);

  /// The most contended first: by who waits, how long they wait, and how often the lock passes on.
  std::vector<BoardRow> rows() const { return rows_; }

 private:
  /// Who holds a lock: owner's fingerprint and token.
  using Holder = std::pair<std::string, Token>;
  struct Track {
    /// At the last look at which there were any.
    std::vector<Holder> holders;
    /// When hand-overs were seen, within the window.
    std::deque<TimePoint> hand_overs;
    TimePoint known_since;
    TimePoint seen_at;
  };

  BoardRow to_row(LockInfo lock, TimePoint now, std::int64_t wall_ms);
  std::optional<double> rate(const Track& track, TimePoint now) const;

  std::map<std::string, Track> tracks_;
  std::vector<BoardRow> rows_;
};

}  // namespace holdfast::cli
