#include "sim/world/network.h"

#include <algorithm>

namespace holdfast::sim {

HostId Network::add_host() {
  const HostId host{static_cast<std::uint16_t>(hosts_++)};
  ways_.resize(hosts_ * hosts_);
  return host;
}

bool Network::loses(Way& way, Direction direction) {
  const bool request = direction == Direction::request;
  const bool by_chance = chance_.happens(request ? faults_.lose_request : faults_.lose_reply);
  if (way.lose_next > 0) {
    --way.lose_next;
    return true;
  }
  return way.blocked > 0 || by_chance;
}

Duration Network::delay(const Way& way) {
  const bool slow = chance_.happens(faults_.slow);
  const Duration drawn =
      chance_.between(faults_.delay_min, slow ? faults_.slow_max : faults_.delay_max);
  return std::max(drawn, way.clogged_until - scheduler_.now());
}

}  // namespace holdfast::sim
