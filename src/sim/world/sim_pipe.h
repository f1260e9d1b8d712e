// SimPipe: one direction of a connection over the simulated network, as TCP has it: everything
// arrives once and in order, and what was lost on the way is sent again, until it is closed.
//
// Thread safety: none. Scheduler and network outlive it. Messages under way keep it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "sim/world/network.h"

namespace holdfast::sim {

class SimPipe : public std::enable_shared_from_this<SimPipe> {
 public:
  SimPipe(Scheduler& scheduler, Network& network, HostId from, HostId to, Direction direction)
      : scheduler_{scheduler}, network_{network}, from_{from}, to_{to}, direction_{direction} {}

  /// Calls `arrive` when the message gets there. `number` is of the request that it is or answers.
  void send(std::uint64_t number, std::function<void()> arrive);

  /// Nothing arrives any more.
  void close() { open_ = false; }

 private:
  struct Message {
    std::uint64_t place{0};
    std::uint64_t number{0};
    std::function<void()> arrive;
  };

  using MessagePtr = std::shared_ptr<const Message>;

  void transmit(const MessagePtr& message, Duration again_after);
  void look_after(const MessagePtr& message, Duration again_after);
  void take(const MessagePtr& message);

  Scheduler& scheduler_;
  Network& network_;
  HostId from_;
  HostId to_;
  Direction direction_;
  bool open_{true};
  std::uint64_t sent_{0};
  std::uint64_t arrived_{0};
  /// Overtook others. The scheduler keeps them: what they refer to may keep this pipe.
  std::map<std::uint64_t, std::weak_ptr<const Message>> early_;
};

}  // namespace holdfast::sim
