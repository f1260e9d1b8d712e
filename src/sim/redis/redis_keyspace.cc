#include "sim/redis/redis_keyspace.h"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

RedisKeyspace::Entry* RedisKeyspace::find(std::string_view key, WallMs now) {
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    if (now <= entry.expires_at) return &entry;
    remove(entry);
    return nullptr;
  }
  return nullptr;
}

RedisKeyspace::Entry& RedisKeyspace::at(std::string_view key) {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found != entries_.end()) return *found;
  return entries_.emplace_back(Entry{.key = std::string{key}});
}

void RedisKeyspace::remove(Entry& entry) {
  if (&entry != &entries_.back()) std::swap(entry, entries_.back());
  entries_.pop_back();
}

bool RedisKeyspace::living_in(const RedisKeyspace& other, WallMs now) const {
  return std::ranges::all_of(entries_, [&](const Entry& entry) {
    return entry.expires_at < now || std::ranges::count(other.entries_, entry) == 1;
  });
}

bool RedisKeyspace::same_as(const RedisKeyspace& other, WallMs now) const {
  return living_in(other, now) && other.living_in(*this, now);
}

}  // namespace holdfast::sim
