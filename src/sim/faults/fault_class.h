// The kinds of fault a world can have, and sets of them.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::sim {

enum class FaultClass : std::uint8_t {
  /// Messages are lost.
  loss,
  /// Requests arrive more than once.
  duplication,
  /// Messages take long, and so overtake each other.
  delay,
  /// Two hosts do not hear each other for a while.
  partition,
  /// One host hears another, which does not hear it.
  one_way,
  /// Messages between two hosts are held back for a while, then all arrive.
  clog,
  /// A process does not run for a while.
  pause,
  /// A process ends without another word, and starts again.
  crash,
  /// A server restarts and keeps what it had acknowledged.
  restart,
  /// A server restarts and loses what was not on its disk.
  data_loss,
  /// A replica takes over that lacks the last writes.
  promotion,
  /// A server's clock is stepped.
  clock_step,
  /// A server's clock runs faster or slower than leases allow for.
  clock_drift,
  /// A client's boot clock runs slower than leases allow for.
  client_drift,
  /// A member of a cluster does not hear the others for a while.
  isolation,
  /// Another member leads from now on.
  leader_change,
  /// A cluster forgets what has changed until now.
  compaction,
  /// A leader stops in the middle, and takes leases away later that were renewed meanwhile.
  stuck_leader,
};

inline constexpr std::size_t kFaultClasses = 18;

inline constexpr std::array<std::string_view, kFaultClasses> kFaultNames{"loss",
                                                                         "duplication",
                                                                         "delay",
                                                                         "partition",
                                                                         "one-way",
                                                                         "clog",
                                                                         "pause",
                                                                         "crash",
                                                                         "restart",
                                                                         "data-loss",
                                                                         "promotion",
                                                                         "clock-step",
                                                                         "clock-drift",
                                                                         "client-drift",
                                                                         "isolation",
                                                                         "leader-change",
                                                                         "compaction",
                                                                         "stuck-leader"};

constexpr std::string_view to_string(FaultClass kind) {
  return kFaultNames.at(static_cast<std::size_t>(kind));
}

constexpr std::optional<FaultClass> fault_of(std::string_view name) {
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    if (kFaultNames.at(i) == name) return static_cast<FaultClass>(i);
  }
  return std::nullopt;
}

/// Whether two may hold a lock at once, each within its deadline, because of such a fault. All
/// others only make a holder late, and its deadline takes care of that.
constexpr bool may_break_exclusion(FaultClass kind) {
  return (kind >= FaultClass::data_loss && kind <= FaultClass::client_drift) ||
         kind == FaultClass::stuck_leader;
}

class FaultSet {
 public:
  constexpr FaultSet() = default;
  static constexpr FaultSet all() { return FaultSet{(1U << kFaultClasses) - 1}; }

  constexpr bool has(FaultClass kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr FaultSet with(FaultClass kind) const { return FaultSet{bits_ | bit(kind)}; }
  constexpr FaultSet without(FaultClass kind) const { return FaultSet{bits_ & ~bit(kind)}; }
  constexpr FaultSet both(FaultSet other) const { return FaultSet{bits_ & other.bits_}; }

  friend constexpr bool operator==(FaultSet, FaultSet) = default;

 private:
  constexpr explicit FaultSet(std::uint32_t bits) : bits_{bits} {}
  static constexpr std::uint32_t bit(FaultClass kind) {
    return 1U << static_cast<std::uint32_t>(kind);
  }

  std::uint32_t bits_{0};
};

}  // namespace holdfast::sim
