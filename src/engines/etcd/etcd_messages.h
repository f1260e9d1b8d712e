// What is asked of an etcd cluster and what it answers, as values.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::etcd {

using Seconds = std::chrono::duration<std::int64_t>;

/// Counts the changes of the whole key space. Zero: never.
using Revision = std::int64_t;

/// Chosen by who makes the lease. Positive; zero: none.
struct LeaseId {
  std::int64_t number{0};
  friend constexpr auto operator<=>(LeaseId, LeaseId) = default;
};

/// Of every answer: who gave it, and how far the key space was.
struct Header {
  std::uint64_t cluster{0};
  std::uint64_t member{0};
  Revision revision{0};
  std::uint64_t term{0};
};

struct KeyValue {
  std::string key;
  std::string value{};
  Revision created{0};
  Revision modified{0};
  /// How often it was written since it was created.
  std::int64_t version{0};
  LeaseId lease{};
};

/// A key, or with `end` all keys from `key` on that come before it.
struct KeyRange {
  std::string key;
  std::string end{};
};

/// All keys that begin with `prefix`.
KeyRange starting_with(std::string prefix);

struct Compare {
  /// A key that is not there has created, modified, version and lease zero, and fails every
  /// comparison of its value.
  enum class What : std::uint8_t { created, modified, version, lease, value };
  enum class Is : std::uint8_t { equal, greater, less, not_equal };

  std::string key;
  What what{What::created};
  Is is{Is::equal};
  std::int64_t number{0};
  std::string value{};
};

struct Range {
  enum class Order : std::uint8_t { by_key, oldest_first, newest_first };
  enum class Part : std::uint8_t { all, keys_only, count_only };

  KeyRange keys;
  Order order{Order::by_key};
  Part part{Part::all};
  /// Zero: no limit.
  std::int64_t limit{0};
  /// Only keys created no later. Zero: all.
  Revision created_by{0};
};

struct Put {
  std::string key;
  std::string value{};
  LeaseId lease{};
};

struct Erase {
  KeyRange keys;
};

using Operation = std::variant<Range, Put, Erase>;

/// Runs `then` when all comparisons hold, `otherwise` when not, atomically. No key may be written
/// twice, and there are at most 128 operations of a kind.
struct Txn {
  std::vector<Compare> when{};
  std::vector<Operation> then{};
  std::vector<Operation> otherwise{};
};

/// Of a Range: what was found. Of an Erase: how many were erased.
struct OperationAnswer {
  std::vector<KeyValue> found{};
  /// Of a Range: how many there are, whatever its limit.
  std::int64_t count{0};
};

struct TxnAnswer {
  Header header{};
  bool held{false};
  std::vector<OperationAnswer> answers{};
};

struct LeaseAnswer {
  Header header{};
  /// The whole of what was granted or is left; the server may have raised it. Zero: there is no
  /// such lease.
  Seconds ttl{0};
};

struct Watch {
  enum class Only : std::uint8_t { all, erasures };

  KeyRange keys;
  /// From this change on. Zero: from now on.
  Revision from{0};
  Only only{Only::all};
};

struct Change {
  enum class Kind : std::uint8_t { put, erased };

  Kind kind{Kind::put};
  /// Erased: the key and, as `modified`, when.
  KeyValue entry;
};

struct WatchNews {
  enum class Kind : std::uint8_t {
    /// From now on changes are told. Told again after every interruption.
    watching,
    changes,
    /// What happened before header.revision is not known any more. Look again.
    compacted,
    /// The server refuses it, now and later: `text` says why. The watch is over.
    refused,
  };

  Kind kind{Kind::watching};
  Header header{};
  std::vector<Change> changes{};
  std::string text{};
};

}  // namespace holdfast::etcd
