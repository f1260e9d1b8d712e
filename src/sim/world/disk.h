// Disk: what of a server's state is left when its machine goes down.
//
// The server has its state in memory and asks the disk about it only at an fsync and after a crash,
// so that a write costs nothing here.
//
// Thread safety: none.

#pragma once

#include <cstdint>

namespace holdfast::sim {

/// When a write is durable.
enum class Persistence : std::uint8_t {
  /// Never: the server starts empty.
  none,
  /// At the next sync(), which the world calls once a second.
  everysec,
  /// Before it is acknowledged.
  always,
};

/// State: copyable, and empty when made.
template <class State>
class Disk {
 public:
  explicit Disk(Persistence persistence) : persistence_{persistence} {}

  Persistence persistence() const { return persistence_; }

  /// The fsync of every second, when `written` is what was written until now.
  void sync(const State& written) {
    if (persistence_ == Persistence::everysec) durable_ = written;
  }

  /// What is there after a crash, when `written` is what was written until then.
  const State& crash(const State& written) const {
    return persistence_ == Persistence::always ? written : durable_;
  }

 private:
  Persistence persistence_;
  State durable_{};
};

}  // namespace holdfast::sim
