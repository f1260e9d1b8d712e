// What a doctor has read of one Redis server. Empty: it could not be read.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast::redis {

/// How this machine reaches the server.
struct Path {
  /// Over a Unix socket or the loopback network: nobody else listens in.
  bool stays_here{false};
  bool encrypted{false};
  /// With a user's name or a password.
  bool authenticated{false};
};

/// Something that locks need and the server refused.
struct Refusal {
  /// Such as `LPOP`.
  std::string command;
  /// In the server's words.
  std::string reason;
};

struct NodeFacts {
  /// As messages name it.
  std::string node;
  std::string prefix;
  Path path{};
  /// `INFO` and `CONFIG GET *`: by name. Empty when the user may not ask.
  std::map<std::string, std::string, std::less<>> info{};
  std::map<std::string, std::string, std::less<>> config{};
  /// The name the server has for us.
  std::string user{"default"};
  std::vector<Refusal> refusals{};
  /// Whether messages reach us. Empty: not tried.
  std::optional<bool> hears_messages{};
  /// Median of several.
  Duration round_trip{};
  /// The server's wall clock less this machine's, and how wrong that may be.
  Duration clock_ahead{};
  Duration clock_error{};
  /// The node-set fingerprint of a majority's node.
  std::optional<std::string> fingerprint{};

  /// Empty when it is not there.
  std::string_view info_of(std::string_view name) const { return value_of(info, name); }
  std::string_view config_of(std::string_view name) const { return value_of(config, name); }
  /// 0 when it is not there, or no number.
  std::int64_t info_number(std::string_view name) const;
  std::int64_t config_number(std::string_view name) const;

 private:
  template <class Map>
  static std::string_view value_of(const Map& map, std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? std::string_view{} : std::string_view{found->second};
  }
};

/// Reads the text of `INFO`: lines of `name:value`.
std::map<std::string, std::string, std::less<>> read_info(std::string_view text);

}  // namespace holdfast::redis
