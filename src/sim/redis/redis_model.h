// RedisModel: what our scripts can see of a Redis 7.0 server: strings, lists and hashes with a TTL
// on its wall clock, and channels.
//
// It answers the commands the scripts use, in Redis' words, and refuses all others, and keys that a
// script did not declare, which a cluster could not route. As in Redis, time stands still while a
// script runs.
//
// Thread safety: none; a model stays on the thread that first uses it.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/redis/pub_sub.h"
#include "sim/redis/redis_answer.h"
#include "sim/redis/redis_keyspace.h"
#include "sim/world/sim_clock.h"

namespace holdfast::sim {

class RedisModel final : private Commands {
 public:
  /// Runs a script when the wall clock shows `now`, microseconds since 1970.
  redis::Reply eval(const redis::ScriptCall& call, WallTime now);

  /// One command, as a client that is not ours would send it.
  redis::Reply command(const std::vector<std::string>& words, WallTime now);

  /// Puts something that is not a string under the key.
  void plant_foreign_type(const std::string& key);

  RedisKeyspace& keyspace() { return keyspace_; }
  const RedisKeyspace& keyspace() const { return keyspace_; }
  PubSub& channels() { return channels_; }

  /// How many keys there are, expired ones that nobody looked at included.
  std::size_t size() const { return keyspace_.size(); }

 private:
  using Entry = RedisKeyspace::Entry;
  struct Handler {
    std::string_view name;
    std::size_t words_min;
    std::size_t words_max;
    Answer (RedisModel::*run)(Words);
    /// Which of the words are keys.
    enum class Keys : std::uint8_t { none, second, all_but_first } keys{Keys::second};
  };
  static const Handler* handler_of(std::string_view name);

  Answer call(Words words) override;
  /// Whether the script that runs has named every key of the command.
  bool declares(const Handler& handler, Words words) const;
  Answer get(Words words);
  Answer set(Words words);
  Answer del(Words words);
  Answer exists(Words words);
  Answer incr(Words words);
  Answer pexpire(Words words);
  Answer pttl(Words words);
  Answer publish(Words words);
  Answer rpush(Words words);
  Answer lpop(Words words);
  Answer lindex(Words words);
  Answer lrem(Words words);
  Answer hset(Words words);
  Answer hget(Words words);
  Answer hdel(Words words);
  Answer hlen(Words words);
  Answer hgetall(Words words);
  Answer lrange(Words words);
  Answer time(Words words);

  Entry* find(std::string_view key) { return keyspace_.find(key, now_ms_); }
  /// The entry of the key, made if there is none. Null: it is there and of another type.
  Entry* open(std::string_view key, RedisKeyspace::Type type);

  WallTime now_{};
  std::int64_t now_ms_{0};
  /// KEYS of the script that runs.
  const std::vector<std::string>* declared_{nullptr};
  RedisKeyspace keyspace_;
  PubSub channels_;
  /// What views in answers refer to.
  std::array<std::string, 2> scratch_;
  std::vector<std::string> pairs_;
};

}  // namespace holdfast::sim
