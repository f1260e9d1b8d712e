// RedisModel: what our scripts can see of a Redis server: strings with a TTL on its wall clock.
//
// It answers the commands the scripts use, in Redis' words, and refuses all others. As in Redis,
// time stands still while a script runs.
//
// Thread safety: none.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/lua_runner.h"

namespace holdfast::sim {

using WallTime = std::chrono::microseconds;

class RedisModel {
 public:
  RedisModel();

  /// Runs a script when the wall clock shows `now`, microseconds since 1970.
  redis::Reply eval(const redis::ScriptCall& call, WallTime now);

  /// One command, as a client that is not ours would send it.
  redis::Reply command(const std::vector<std::string>& words, WallTime now);

  /// Puts something that is not a string under the key.
  void plant_foreign_type(const std::string& key) { keys_[key] = {.type = Type::other}; }

  /// As after a restart without persistence.
  void forget_everything() { keys_.clear(); }

  /// How many keys there are, expired ones that nobody looked at included.
  std::size_t size() const { return keys_.size(); }

 private:
  enum class Type : std::uint8_t { text, other };
  struct Entry {
    Type type{Type::text};
    std::string value{};
    /// Milliseconds on the wall clock.
    std::optional<std::int64_t> expires_at_ms{};
  };
  using Words = std::vector<std::string>;

  redis::Reply dispatch(const Words& words);
  redis::Reply get(const Words& words);
  redis::Reply set(const Words& words);
  redis::Reply del(const Words& words);
  redis::Reply pexpire(const Words& words);
  redis::Reply pttl(const Words& words);
  redis::Reply time(const Words& words);

  /// The living entry of the key, or null. Removes it when its time is over.
  Entry* find(const std::string& key);
  std::int64_t now_ms() const;

  WallTime now_{};
  std::map<std::string, Entry> keys_;
  LuaRunner lua_;
};

}  // namespace holdfast::sim
