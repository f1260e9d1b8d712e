#include "sim/network.h"

#include <utility>

namespace holdfast::sim {

bool Network::loses(Link& link, Direction direction) {
  const bool request = direction == Direction::request;
  int& planned = request ? link.lose_requests : link.lose_replies;
  const bool by_chance = chance_.happens(request ? faults_.lose_request : faults_.lose_reply);
  if (planned > 0) {
    --planned;
    return true;
  }
  return link.cut || by_chance;
}

void Network::carry(Link& link, Direction direction, std::function<void()> arrive) {
  const bool lost = loses(link, direction);
  const bool slow = chance_.happens(faults_.slow);
  const Duration delay =
      chance_.between(faults_.delay_min, slow ? faults_.slow_max : faults_.delay_max);
  if (lost) return;
  // A link that was cut while the message was under way lets nothing out.
  scheduler_.after(delay, [&link, arrive = std::move(arrive)] {
    if (!link.cut) arrive();
  });
}

}  // namespace holdfast::sim
