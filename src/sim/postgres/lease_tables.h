// LeaseTables: the rows that the lease mode has in a model PostgreSQL.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/world/sim_clock.h"

namespace holdfast::sim {

/// The number of a session, by which it is found to be there.
using Attendance = std::int64_t;

/// What somebody asks for.
struct LeaseAsk {
  std::string owner;
  std::string note{};
  /// `x`, `s`, or `p` and a number.
  std::string claim{"x"};
  WallTime ttl{};
  WallTime delay{};
  std::optional<Attendance> session{};

  friend bool operator==(const LeaseAsk&, const LeaseAsk&) = default;
};

struct HolderRow {
  LeaseAsk ask;
  std::uint64_t token{0};
  WallTime until{};

  friend bool operator==(const HolderRow&, const HolderRow&) = default;
};

struct WaiterRow {
  LeaseAsk ask;
  /// Until when it is there, where it has no session.
  WallTime until{};

  friend bool operator==(const WaiterRow&, const WaiterRow&) = default;
};

/// Of one name. Waiters are in the order in which they came.
struct LockRows {
  std::vector<HolderRow> holders{};
  std::vector<WaiterRow> waiters{};

  friend bool operator==(const LockRows&, const LockRows&) = default;
};

/// A lease that was ended by force.
struct BrokenRow {
  std::string owner;
  std::uint64_t token{0};
  WallTime at{};

  friend bool operator==(const BrokenRow&, const BrokenRow&) = default;
};

/// A lock without tokens, as programs without Holdfast keep it.
struct PlainRow {
  std::string owner;
  WallTime until{};

  friend bool operator==(const PlainRow&, const PlainRow&) = default;
};

struct LeaseTables {
  std::map<std::string, LockRows, std::less<>> locks{};
  std::vector<BrokenRow> broken{};
  std::map<std::string, PlainRow, std::less<>> plain{};

  friend bool operator==(const LeaseTables&, const LeaseTables&) = default;
};

}  // namespace holdfast::sim
