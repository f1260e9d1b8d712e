// The board of `top` as text and as JSON.

#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/top/lock_board.h"
#include "observe/refusal_record.h"

namespace holdfast::cli {

/// In characters. No height: as high as it takes.
struct ScreenSize {
  std::size_t columns{80};
  std::size_t lines{0};
};

struct BoardHead {
  std::string engine{};
  std::int64_t wall_ms{0};
  /// What kept the last look from succeeding; empty: nothing did.
  std::optional<Error> trouble{};
  /// Empty: not known, as where the engine has no store.
  std::optional<observe::RefusalRecord> refusals{};
};

using Paint = std::function<std::string(std::string_view, Tone)>;

/// One line each, none longer than the screen is wide.
std::vector<std::string> board_lines(const BoardHead& head,
                                     const std::vector<BoardRow>& rows,
                                     ScreenSize size,
                                     const Paint& paint);

/// engine, time_ms, locks[] (name, mode, permits, holders[], waiters[], longest_wait_ms,
/// longest_hold_ms, hand_overs_s) and stale_refusals (total, since_ms, resources[]: key, count,
/// last_ms; the last refused first), which is null if it is not known.
boost::json::object board_json(const BoardHead& head, const std::vector<BoardRow>& rows);

}  // namespace holdfast::cli
