// Network: messages between clients and servers, which it delays, reorders and loses.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <functional>

#include "sim/chance.h"
#include "sim/scheduler.h"

namespace holdfast::sim {

struct NetworkFaults {
  Duration delay_min{std::chrono::microseconds{200}};
  Duration delay_max{std::chrono::milliseconds{2}};
  /// A message that is slow takes up to this long.
  Duration slow_max{std::chrono::seconds{3}};
  PerMille slow{};
  PerMille lose_request{};
  PerMille lose_reply{};
};

enum class Direction : std::uint8_t { request, reply };

/// One client's way to a server.
struct Link {
  bool cut{false};
  /// So many of the next messages are lost, whatever chance says.
  int lose_requests{0};
  int lose_replies{0};
};

class Network {
 public:
  Network(Scheduler& scheduler, std::uint64_t seed) : scheduler_{scheduler}, chance_{seed} {}

  void set_faults(const NetworkFaults& faults) { faults_ = faults; }

  /// Calls `arrive` when the message arrives, or never. The link outlives the message.
  void carry(Link& link, Direction direction, std::function<void()> arrive);

 private:
  bool loses(Link& link, Direction direction);

  Scheduler& scheduler_;
  Chance chance_;
  NetworkFaults faults_{};
};

}  // namespace holdfast::sim
