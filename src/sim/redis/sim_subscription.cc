#include "sim/redis/sim_subscription.h"

#include <utility>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using Shared = std::shared_ptr<SimSubscriptions>;
using Channel = std::shared_ptr<SimSubscriptions::Channel>;

// How soon a broken connection is noticed.
constexpr Duration kHeartbeat = 1s;

void tell(const Shared& to, const Channel& channel, redis::Heard heard) {
  if (channel->over) return;
  to->env.post([channel, heard = std::move(heard)] {
    if (!channel->over) channel->on_heard(heard);
  });
}

void carry_to_client(const Shared& to, const Channel& channel, redis::Heard heard, PubSub::Id id) {
  auto at_client = [to, channel, heard = std::move(heard), id] {
    channel->heard_of = id;
    tell(to, channel, heard);
  };
  to->network.carry(
      to->ends.server, to->ends.client, Direction::reply, kOfNoRequest, std::move(at_client));
}

void subscribe_at_server(const Shared& to, const Channel& channel) {
  auto receive = [to, channel](std::string_view, std::string_view message) {
    redis::Heard heard{.kind = redis::Heard::Kind::message, .text = std::string{message}};
    carry_to_client(to, channel, std::move(heard), channel->heard_of);
  };
  channel->id = to->node.model().channels().subscribe(channel->name, std::move(receive));
}

/// Asks for all of them in one message.
void ask(const Shared& to, std::vector<Channel> channels) {
  struct Asked {
    Channel channel;
    PubSub::Id heard_of;
  };
  std::vector<Asked> asked;
  for (Channel& channel : channels) {
    const PubSub::Id heard_of = channel->heard_of;
    asked.push_back({std::move(channel), heard_of});
  }
  auto at_server = [to, asked = std::move(asked)] {
    if (!to->node.up()) return;
    for (const Asked& one : asked) {
      if (one.channel->over) continue;
      if (!to->node.model().channels().has(one.channel->id)) subscribe_at_server(to, one.channel);
      if (one.channel->id == one.heard_of) continue;
      carry_to_client(to, one.channel, {}, one.channel->id);
    }
  };
  to->network.carry(
      to->ends.client, to->ends.server, Direction::request, kOfNoRequest, std::move(at_server));
}

Task<void> keep_up(Shared to) {
  while (!to->channels.empty()) {
    co_await to->env.sleep_for(kHeartbeat);
    if (!to->channels.empty()) ask(to, to->channels);
  }
  to->kept_up = false;
}

Task<void> begin(Shared to, Channel channel) {
  std::vector<Channel> one(1, channel);
  if (!channel->over) ask(to, std::move(one));
  co_return;
}

}  // namespace

void hear_channel(const Shared& to, std::string name, redis::OnHeard on_heard) {
  to->channels.push_back(std::make_shared<SimSubscriptions::Channel>(
      SimSubscriptions::Channel{.name = std::move(name), .on_heard = std::move(on_heard)}));
  to->env.spawn(begin(to, to->channels.back()));
  if (!std::exchange(to->kept_up, true)) to->env.spawn(keep_up(to));
}

void end_channel(SimSubscriptions& of, const std::string& name) {
  std::erase_if(of.channels, [&](const Channel& channel) {
    if (channel->name != name) return false;
    channel->over = true;
    of.node.model().channels().unsubscribe(channel->id);
    return true;
  });
}

void end_all(SimSubscriptions& of) {
  for (const Channel& channel : of.channels) channel->over = true;
  of.channels.clear();
}

}  // namespace holdfast::sim
