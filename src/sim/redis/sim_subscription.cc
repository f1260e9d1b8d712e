#include "sim/redis/sim_subscription.h"

#include <utility>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using Shared = std::shared_ptr<SimSubscription>;

// How soon a broken connection is noticed.
constexpr Duration kHeartbeat = 1s;

void tell(const Shared& to, redis::Heard heard) {
  if (to->over) return;
  to->env.post([to, heard = std::move(heard)] {
    if (!to->over) to->on_heard(heard);
  });
}

void carry_to_client(const Shared& to, std::uint64_t number, redis::Heard heard, PubSub::Id id) {
  auto at_client = [to, heard = std::move(heard), id] {
    to->heard_of = id;
    tell(to, heard);
  };
  to->network.carry(
      to->ends.server, to->ends.client, Direction::reply, number, std::move(at_client));
}

void subscribe_at_server(const Shared& to) {
  auto receive = [to](std::string_view, std::string_view message) {
    redis::Heard heard{.kind = redis::Heard::Kind::message, .text = std::string{message}};
    carry_to_client(to, to->network.next_number(), std::move(heard), to->heard_of);
  };
  to->id = to->node.model().channels().subscribe(to->channel, std::move(receive));
}

void ask(const Shared& to) {
  const std::uint64_t number = to->network.next_number();
  auto at_server = [to, number, heard_of = to->heard_of] {
    if (!to->node.up() || to->over) return;
    if (!to->node.model().channels().has(to->id)) subscribe_at_server(to);
    if (to->id != heard_of) carry_to_client(to, number, {}, to->id);
  };
  to->network.carry(
      to->ends.client, to->ends.server, Direction::request, number, std::move(at_server));
}

}  // namespace

Task<void> keep_subscribed(std::shared_ptr<SimSubscription> subscription) {
  while (!subscription->over) {
    ask(subscription);
    co_await subscription->env.sleep_for(kHeartbeat);
  }
  subscription->node.model().channels().unsubscribe(subscription->id);
}

}  // namespace holdfast::sim
