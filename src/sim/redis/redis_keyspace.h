// RedisKeyspace: the keys of a model server, each with the wall-clock time at which it ends.
//
// For a handful of keys: they are searched in turn, and copying reuses the copy's memory.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sim {

class RedisKeyspace {
 public:
  /// Milliseconds since 1970 on the server's wall clock.
  using WallMs = std::int64_t;
  static constexpr WallMs kForever = std::numeric_limits<WallMs>::max();

  enum class Type : std::uint8_t { text, list, hash };
  using Field = std::pair<std::string, std::string>;

  struct Entry {
    std::string key;
    std::string value{};
    std::vector<std::string> list{};
    std::vector<Field> fields{};
    /// The last millisecond in which the key is there.
    WallMs expires_at{kForever};
    Type type{Type::text};

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// The living entry of the key, or null. Removes it when its time is over. Stands until the next
  /// change.
  Entry* find(std::string_view key, WallMs now);

  /// The entry of the key, made if there is none. Whatever was in it stays; a new one is a string.
  Entry& at(std::string_view key);

  /// Removes an entry that find() or at() gave.
  void remove(Entry& entry);

  void clear() { entries_.clear(); }

  /// How many there are, ended ones that nobody looked at included.
  std::size_t size() const { return entries_.size(); }

  /// Whether nobody could tell the two apart from `now` on.
  bool same_as(const RedisKeyspace& other, WallMs now) const;

 private:
  bool living_in(const RedisKeyspace& other, WallMs now) const;

  std::vector<Entry> entries_;
};

}  // namespace holdfast::sim
