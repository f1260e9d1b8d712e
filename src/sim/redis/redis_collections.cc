// The commands on lists and hashes. A collection that has become empty is gone, as in Redis.

#include <algorithm>

#include "base/decimal.h"
#include "sim/redis/redis_model.h"

namespace holdfast::sim {
namespace {

using Type = RedisKeyspace::Type;

constexpr Answer kWrongType =
    Answer::of_error("WRONGTYPE Operation against a key holding the wrong kind of value");
constexpr Answer kNotAnInteger = Answer::of_error("ERR value is not an integer or out of range");

}  // namespace

RedisModel::Entry* RedisModel::open(std::string_view key, Type type) {
  Entry* entry = find(key);
  if (entry == nullptr) {
    entry = &keyspace_.at(key);
    entry->type = type;
  }
  return entry->type == type ? entry : nullptr;
}

Answer RedisModel::rpush(Words words) {
  Entry* entry = open(words[1], Type::list);
  if (entry == nullptr) return kWrongType;
  entry->list.emplace_back(words[2]);
  return Answer::of_integer(static_cast<std::int64_t>(entry->list.size()));
}

Answer RedisModel::lpop(Words words) {
  Entry* entry = find(words[1]);
  if (entry == nullptr) return {};
  if (entry->type != Type::list) return kWrongType;
  scratch_[0] = entry->list.front();
  entry->list.erase(entry->list.begin());
  if (entry->list.empty()) keyspace_.remove(*entry);
  return Answer::of_text(scratch_[0]);
}

Answer RedisModel::lindex(Words words) {
  const auto index = parse_decimal<std::int64_t>(words[2]);
  if (!index) return kNotAnInteger;
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return {};
  if (entry->type != Type::list) return kWrongType;
  const auto size = static_cast<std::int64_t>(entry->list.size());
  const std::int64_t at = *index < 0 ? size + *index : *index;
  if (at < 0 || at >= size) return {};
  return Answer::of_text(entry->list[static_cast<std::size_t>(at)]);
}

// From the front, as many as asked for; the scripts ask for one.
Answer RedisModel::lrem(Words words) {
  auto count = parse_decimal<std::int64_t>(words[2]);
  if (!count || *count <= 0) return kNotAnInteger;
  Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_integer(0);
  if (entry->type != Type::list) return kWrongType;
  const std::size_t before = entry->list.size();
  std::erase_if(entry->list,
                [&](const std::string& item) { return item == words[3] && (*count)-- > 0; });
  const std::size_t removed = before - entry->list.size();
  if (entry->list.empty()) keyspace_.remove(*entry);
  return Answer::of_integer(static_cast<std::int64_t>(removed));
}

Answer RedisModel::lrange(Words words) {
  const auto begin = parse_decimal<std::int64_t>(words[2]);
  const auto end = parse_decimal<std::int64_t>(words[3]);
  if (!begin || !end) return kNotAnInteger;
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_array({});
  if (entry->type != Type::list) return kWrongType;
  const auto size = static_cast<std::int64_t>(entry->list.size());
  const std::int64_t from = std::max<std::int64_t>(*begin < 0 ? size + *begin : *begin, 0);
  const std::int64_t to = std::min(*end < 0 ? size + *end : *end, size - 1);
  if (from > to) return Answer::of_array({});
  return Answer::of_array(std::span{entry->list}.subspan(static_cast<std::size_t>(from),
                                                         static_cast<std::size_t>(to - from + 1)));
}

Answer RedisModel::hset(Words words) {
  Entry* entry = open(words[1], Type::hash);
  if (entry == nullptr) return kWrongType;
  const auto field = std::ranges::find(entry->fields, words[2], &RedisKeyspace::Field::first);
  if (field != entry->fields.end()) {
    field->second.assign(words[3]);
    return Answer::of_integer(0);
  }
  entry->fields.emplace_back(words[2], words[3]);
  return Answer::of_integer(1);
}

Answer RedisModel::hget(Words words) {
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return {};
  if (entry->type != Type::hash) return kWrongType;
  const auto field = std::ranges::find(entry->fields, words[2], &RedisKeyspace::Field::first);
  if (field == entry->fields.end()) return {};
  return Answer::of_text(field->second);
}

Answer RedisModel::hdel(Words words) {
  Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_integer(0);
  if (entry->type != Type::hash) return kWrongType;
  const auto removed = std::erase_if(
      entry->fields, [&](const RedisKeyspace::Field& field) { return field.first == words[2]; });
  if (entry->fields.empty()) keyspace_.remove(*entry);
  return Answer::of_integer(static_cast<std::int64_t>(removed));
}

Answer RedisModel::hlen(Words words) {
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_integer(0);
  if (entry->type != Type::hash) return kWrongType;
  return Answer::of_integer(static_cast<std::int64_t>(entry->fields.size()));
}

Answer RedisModel::hgetall(Words words) {
  pairs_.clear();
  const Entry* entry = find(words[1]);
  if (entry == nullptr) return Answer::of_array({});
  if (entry->type != Type::hash) return kWrongType;
  for (const auto& [field, value] : entry->fields) {
    pairs_.push_back(field);
    pairs_.push_back(value);
  }
  return Answer::of_array(pairs_);
}

}  // namespace holdfast::sim
