// What goes between a script, or a client, and the model server: commands and answers, as views.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engines/redis/redis_port.h"

namespace holdfast::sim {

/// One command, its name first.
using Words = std::span<const std::string_view>;

/// What a command answered. Its texts are the server's and stand until the next command.
struct Answer {
  enum class Kind : std::uint8_t { nil, ok, integer, text, array, error };

  Kind kind{Kind::nil};
  std::int64_t integer{0};
  /// The text, or the message of an error.
  std::string_view text{};
  std::span<const std::string> items{};

  static constexpr Answer of_ok() { return {.kind = Kind::ok, .text = "OK"}; }
  static constexpr Answer of_integer(std::int64_t value) {
    return {.kind = Kind::integer, .integer = value};
  }
  static constexpr Answer of_text(std::string_view value) {
    return {.kind = Kind::text, .text = value};
  }
  static constexpr Answer of_array(std::span<const std::string> values) {
    return {.kind = Kind::array, .items = values};
  }
  static constexpr Answer of_error(std::string_view message) {
    return {.kind = Kind::error, .text = message};
  }
};

/// The same as a client gets it.
redis::Reply reply_of(const Answer& answer);

/// Whoever runs the commands of a script.
class Commands {
 public:
  virtual ~Commands() = default;
  virtual Answer call(Words words) = 0;
};

}  // namespace holdfast::sim
