#include "sim/redis/redis_model.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/decimal.h"
#include "sim/redis/lua_runner.h"

namespace holdfast::sim {
namespace {

using redis::Reply;

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

constexpr Answer kNotAnInteger = Answer::of_error("ERR value is not an integer or out of range");
constexpr Answer kSyntaxError = Answer::of_error("ERR syntax error");
constexpr Answer kWrongType =
    Answer::of_error("WRONGTYPE Operation against a key holding the wrong kind of value");

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool same_word(std::string_view word, std::string_view name) {
  return std::ranges::equal(word, name, {}, lower);
}

// Redis takes a number only in the form in which it would print it.
std::optional<std::int64_t> integer_of(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  return parse_decimal<std::int64_t>(text);
}

// The time `ttl` from now. Empty when no clock ever shows it.
std::optional<std::int64_t> end_of(std::int64_t now_ms, std::int64_t ttl) {
  if (ttl > std::numeric_limits<std::int64_t>::max() - now_ms) return std::nullopt;
  return now_ms + ttl;
}

}  // namespace

Reply RedisModel::eval(const redis::ScriptCall& call, WallTime now) {
  now_ = now;
  now_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  declared_ = &call.keys;
  return LuaRunner::of_this_thread().run(call, *this);
}

Reply RedisModel::command(const std::vector<std::string>& words, WallTime now) {
  now_ = now;
  now_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const Handler* handler = handler_of(words.front());
  if (handler == nullptr) {
    std::string message = "ERR unknown command '" + words.front() + "', with args beginning with: ";
    for (std::size_t at = 1; at < words.size(); ++at) message += "'" + words[at] + "' ";
    return Reply::of_error(message);
  }
  if (words.size() < handler->words_min || words.size() > handler->words_max) {
    const std::string name{handler->name};
    return Reply::of_error("ERR wrong number of arguments for '" + name + "' command");
  }
  const std::vector<std::string_view> views{words.begin(), words.end()};
  return reply_of((this->*handler->run)(views));
}

void RedisModel::plant_foreign_type(const std::string& key) {
  keyspace_.at(key) = {.key = key, .list = {"item"}, .type = RedisKeyspace::Type::list};
}

const RedisModel::Handler* RedisModel::handler_of(std::string_view name) {
  static constexpr std::array kHandlers{
      Handler{"get", 2, 2, &RedisModel::get},
      Handler{"set", 3, kAnyNumber, &RedisModel::set},
      Handler{"del", 2, kAnyNumber, &RedisModel::del, Handler::Keys::all_but_first},
      Handler{"time", 1, 1, &RedisModel::time, Handler::Keys::none},
      Handler{"pttl", 2, 2, &RedisModel::pttl},
      Handler{"pexpire", 3, 3, &RedisModel::pexpire},
      Handler{"publish", 3, 3, &RedisModel::publish, Handler::Keys::none},
      Handler{"incr", 2, 2, &RedisModel::incr},
      Handler{"exists", 2, kAnyNumber, &RedisModel::exists, Handler::Keys::all_but_first},
      Handler{"rpush", 3, 3, &RedisModel::rpush},
      Handler{"lpop", 2, 2, &RedisModel::lpop},
      Handler{"lindex", 3, 3, &RedisModel::lindex},
      Handler{"lrem", 4, 4, &RedisModel::lrem},
      Handler{"hset", 4, 4, &RedisModel::hset},
      Handler{"hget", 3, 3, &RedisModel::hget},
      Handler{"hdel", 3, 3, &RedisModel::hdel},
      Handler{"hlen", 2, 2, &RedisModel::hlen},
      Handler{"hgetall", 2, 2, &RedisModel::hgetall},
      Handler{"lrange", 4, 4, &RedisModel::lrange},
  };
  const auto* const found = std::ranges::find_if(
      kHandlers, [name](const Handler& handler) { return same_word(name, handler.name); });
  return found == kHandlers.end() ? nullptr : found;
}

Answer RedisModel::call(Words words) {
  const Handler* handler = handler_of(words.front());
  if (handler == nullptr) return Answer::of_error("ERR Unknown Redis command called from script");
  if (words.size() < handler->words_min || words.size() > handler->words_max) {
    return Answer::of_error("ERR Wrong number of args calling Redis command from script");
  }
  if (!declares(*handler, words)) {
    return Answer::of_error("ERR Script attempted to access a key that it did not declare");
  }
  return (this->*handler->run)(words);
}

bool RedisModel::declares(const Handler& handler, Words words) const {
  if (handler.keys == Handler::Keys::none) return true;
  const Words keys = handler.keys == Handler::Keys::second ? words.subspan(1, 1) : words.subspan(1);
  return std::ranges::all_of(keys, [this](std::string_view key) {
    return std::ranges::find(*declared_, key) != declared_->end();
  });
}

Answer RedisModel::get(Words words) {
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return {};
  if (entry->type != RedisKeyspace::Type::text) return kWrongType;
  return Answer::of_text(entry->value);
}

Answer RedisModel::set(Words words) {
  bool only_if_absent = false;
  std::optional<std::string_view> ttl_text;
  for (std::size_t at = 3; at < words.size(); ++at) {
    if (same_word(words[at], "nx")) {
      only_if_absent = true;
    } else if (same_word(words[at], "px") && at + 1 < words.size()) {
      ttl_text = words[++at];
    } else {
      return kSyntaxError;
    }
  }
  std::int64_t expires_at = RedisKeyspace::kForever;
  if (ttl_text) {
    const auto ttl = integer_of(*ttl_text);
    if (!ttl) return kNotAnInteger;
    const auto end = end_of(now_ms_, *ttl);
    if (*ttl <= 0 || !end) return Answer::of_error("ERR invalid expire time in 'set' command");
    expires_at = *end;
  }
  Entry* entry = find(words[1]);
  if (entry != nullptr && only_if_absent) return {};
  if (entry == nullptr) entry = &keyspace_.at(words[1]);
  entry->value.assign(words[2]);
  entry->type = RedisKeyspace::Type::text;
  entry->list.clear();
  entry->fields.clear();
  entry->expires_at = expires_at;
  return Answer::of_ok();
}

Answer RedisModel::del(Words words) {
  std::int64_t removed = 0;
  for (const std::string_view key : words.subspan(1)) {
    Entry* entry = find(key);
    if (entry == nullptr) continue;
    keyspace_.remove(*entry);
    ++removed;
  }
  return Answer::of_integer(removed);
}

Answer RedisModel::exists(Words words) {
  return Answer::of_integer(std::ranges::count_if(
      words.subspan(1), [this](std::string_view key) { return find(key) != nullptr; }));
}

Answer RedisModel::incr(Words words) {
  Entry* entry = find(words[1]);
  if (entry != nullptr && entry->type != RedisKeyspace::Type::text) return kWrongType;
  const auto before = entry != nullptr ? integer_of(entry->value) : 0;
  if (!before) return kNotAnInteger;
  if (*before == std::numeric_limits<std::int64_t>::max()) {
    return Answer::of_error("ERR increment or decrement would overflow");
  }
  if (entry == nullptr) entry = &keyspace_.at(words[1]);
  entry->value = std::to_string(*before + 1);
  return Answer::of_integer(*before + 1);
}

Answer RedisModel::pexpire(Words words) {
  const auto ttl = integer_of(words[2]);
  if (!ttl) return kNotAnInteger;
  const auto end = end_of(now_ms_, *ttl);
  if (!end) return Answer::of_error("ERR invalid expire time in 'pexpire' command");
  Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_integer(0);
  if (*ttl <= 0) {
    keyspace_.remove(*entry);
  } else {
    entry->expires_at = *end;
  }
  return Answer::of_integer(1);
}

Answer RedisModel::pttl(Words words) {
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_integer(-2);
  if (entry->expires_at == RedisKeyspace::kForever) return Answer::of_integer(-1);
  return Answer::of_integer(entry->expires_at - now_ms_);
}

Answer RedisModel::publish(Words words) {
  return Answer::of_integer(channels_.publish(words[1], words[2]));
}

Answer RedisModel::time(Words) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  scratch_[0] = std::to_string(now_.count() / kMicrosPerSecond);
  scratch_[1] = std::to_string(now_.count() % kMicrosPerSecond);
  return Answer::of_array(scratch_);
}

}  // namespace holdfast::sim
