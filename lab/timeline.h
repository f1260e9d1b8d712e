// What happened in a demonstration, and what follows from it. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"
#include "lab/message.h"

namespace holdfast::lab {

/// The two processes of a scene.
enum class Who : std::uint8_t { a, b };

enum class Step : std::uint8_t {
  /// Waits for the lock.
  asked,
  granted,
  opened,
  read,
  /// Has checked its lease and is about to write.
  decided,
  /// Will not write: there is not enough.
  declined,
  /// By SIGSTOP.
  stopped,
  continued,
  accepted,
  refused,
  released,
  /// Wanted to release, and learnt that the lease had been lost.
  found_lost,
};

struct Event {
  /// Since the beginning of the scene.
  Duration at{0};
  Who who{Who::a};
  Step step{Step::asked};
  /// What was read, or was to be written.
  std::optional<std::int64_t> value{};
  /// Of the lease; refused: the token that was too low.
  std::optional<std::uint64_t> token{};
  /// refused: the token that was in the way.
  std::optional<std::uint64_t> highest{};
};

struct Scene {
  Access access{Access::plain};
  std::int64_t initial{0};
  std::vector<Event> events{};
  std::int64_t final_value{0};
};

struct Span {
  Who who{Who::a};
  Duration from{0};
  Duration to{0};
};

std::string_view to_string(Who who);
std::string_view to_string(Step step);

double to_ms(Duration time);

/// From the grant until the process was told otherwise (by a refusal or its release) or released.
std::vector<Span> beliefs(const Scene& scene);

/// While a process was stopped.
std::vector<Span> pauses(const Scene& scene);

/// When both believed to hold the lock; `who` means nothing.
std::optional<Span> overlap(const Scene& scene);

int count(const Scene& scene, Step step);

/// An accepted write that undid another one, because its process had read before that one.
struct Overwrite {
  /// Places in Scene::events.
  std::size_t by{0};
  std::size_t victim{0};
};

std::vector<Overwrite> overwrites(const Scene& scene);

/// The tokens of a scene without the digits that all of them begin with: short, and in the same
/// order. At least three digits each; empty for 0.
class TokenNames {
 public:
  explicit TokenNames(const Scene& scene);
  std::string operator()(std::optional<std::uint64_t> token) const;

 private:
  std::size_t common_{0};
};

}  // namespace holdfast::lab
