// `holdfast lab pause`: a holder is stopped past its lease and writes when it wakes, with three
// kinds of protection and in two orders.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"
#include "lab/timeline.h"

namespace holdfast::lab {

enum class PauseStory : std::uint8_t {
  /// B has written before A wakes and writes.
  late_write,
  /// A's write lands between B's read and B's write.
  in_flight,
};

std::string_view to_string(PauseStory story);

/// Increments of a counter, from what happened.
struct Tally {
  int accepted{0};
  int refused{0};
  /// Accepted, and not in the final value.
  std::int64_t lost{0};
};

Tally tally(const Scene& scene);

struct PauseTake {
  PauseStory story{PauseStory::late_write};
  Scene scene{};

  /// Whether this protection cannot help in this story.
  bool must_lose() const;
};

struct PauseReport {
  Millis ttl{0};
  /// Protection by protection, and each in both stories.
  std::vector<PauseTake> takes{};

  /// What is not as it must be, for people. Empty: all is.
  std::vector<std::string> differences() const;
};

struct PauseOptions {
  std::string engine;
  Millis ttl{300};
  int interrupt{-1};
};

inline constexpr std::array kProtections{Access::plain, Access::fenced_writes, Access::open_first};

/// "no check", "fenced writes only", "open before read", "compare-and-swap".
std::string_view title_of(Access access);
/// The same for programs: "no_check", …
std::string_view to_string(Access access);

/// Takes about six TTLs. `progress` is called before each story.
Result<PauseReport> run_pause(const PauseOptions& options,
                              const std::function<void(const std::string&)>& progress);

}  // namespace holdfast::lab
