#include "sim/redis_model.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/decimal.h"

namespace holdfast::sim {
namespace {

using redis::Reply;

Reply not_an_integer() { return Reply::of_error("ERR value is not an integer or out of range"); }
Reply syntax_error() { return Reply::of_error("ERR syntax error"); }

}  // namespace

RedisModel::RedisModel() : lua_{[this](const Words& words) { return dispatch(words); }} {}

Reply RedisModel::eval(const redis::ScriptCall& call, WallTime now) {
  now_ = now;
  return lua_.run(call);
}

Reply RedisModel::command(const Words& words, WallTime now) {
  now_ = now;
  return dispatch(words);
}

std::int64_t RedisModel::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(now_).count();
}

RedisModel::Entry* RedisModel::find(const std::string& key) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return nullptr;
  const auto expires_at = at->second.expires_at_ms;
  if (!expires_at || now_ms() <= *expires_at) return &at->second;
  keys_.erase(at);
  return nullptr;
}

Reply RedisModel::dispatch(const Words& words) {
  struct Handler {
    std::string_view name;
    std::size_t words_min;
    Reply (RedisModel::*run)(const Words&);
  };
  static constexpr std::array kHandlers{
      Handler{"GET", 2, &RedisModel::get},
      Handler{"SET", 3, &RedisModel::set},
      Handler{"DEL", 2, &RedisModel::del},
      Handler{"PEXPIRE", 3, &RedisModel::pexpire},
      Handler{"PTTL", 2, &RedisModel::pttl},
      Handler{"TIME", 1, &RedisModel::time},
  };
  for (const Handler& handler : kHandlers) {
    if (handler.name != words.front()) continue;
    if (words.size() < handler.words_min) {
      return Reply::of_error("ERR wrong number of arguments for '" + words.front() + "' command");
    }
    return (this->*handler.run)(words);
  }
  return Reply::of_error("ERR Unknown Redis command called from script: " + words.front());
}

Reply RedisModel::get(const Words& words) {
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return {};
  if (entry->type != Type::text) {
    return Reply::of_error("WRONGTYPE Operation against a key holding the wrong kind of value");
  }
  return Reply::of_text(entry->value);
}

Reply RedisModel::set(const Words& words) {
  Entry entry{.value = words[2]};
  bool only_if_absent = false;
  for (std::size_t at = 3; at < words.size(); ++at) {
    if (words[at] == "NX") {
      only_if_absent = true;
      continue;
    }
    if (words[at] != "PX" || at + 1 == words.size()) return syntax_error();
    const auto ttl = parse_decimal<std::int64_t>(words[++at]);
    if (!ttl) return not_an_integer();
    if (*ttl <= 0) return Reply::of_error("ERR invalid expire time in 'set' command");
    entry.expires_at_ms = now_ms() + *ttl;
  }
  if (only_if_absent && find(words[1]) != nullptr) return {};
  keys_[words[1]] = std::move(entry);
  return Reply::of_text("OK");
}

Reply RedisModel::del(const Words& words) {
  std::int64_t removed = 0;
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (find(words[at]) == nullptr) continue;
    keys_.erase(words[at]);
    ++removed;
  }
  return Reply::of_integer(removed);
}

Reply RedisModel::pexpire(const Words& words) {
  const auto ttl = parse_decimal<std::int64_t>(words[2]);
  if (!ttl) return not_an_integer();
  Entry* entry = find(words[1]);
  if (entry == nullptr) return Reply::of_integer(0);
  if (*ttl <= 0) {
    keys_.erase(words[1]);
  } else {
    entry->expires_at_ms = now_ms() + *ttl;
  }
  return Reply::of_integer(1);
}

Reply RedisModel::pttl(const Words& words) {
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return Reply::of_integer(-2);
  if (!entry->expires_at_ms) return Reply::of_integer(-1);
  return Reply::of_integer(*entry->expires_at_ms - now_ms());
}

Reply RedisModel::time(const Words&) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  const std::int64_t micros = now_.count();
  return Reply::of_array({Reply::of_text(std::to_string(micros / kMicrosPerSecond)),
                          Reply::of_text(std::to_string(micros % kMicrosPerSecond))});
}

}  // namespace holdfast::sim
