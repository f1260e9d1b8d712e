#include "engines/redis/driver/cluster_port.h"

#include <algorithm>
#include <utility>

#include "engines/redis/driver/failure.h"
#include "engines/redis/redis_keys.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

/// How long a node is waited for that is asked what it can.
constexpr Duration kProbePatience = 1s;

/// What an answer to CLUSTER SLOTS means that is no map.
Failure not_a_map(const RedisTarget& target, const Reply& reply) {
  const std::string& said = reply.text;
  if (said.find("cluster support disabled") != std::string::npos) {
    Error error = error_at(target, Errc::invalid_argument, "the server is not part of a cluster");
    error.remedy_text = "write redis:// for a single server";
    return {error, Failure::Cause::lasting};
  }
  if (said.starts_with("NOPERM")) {
    return {error_at(target, Errc::denied, said), Failure::Cause::lasting};
  }
  return passing_failure(target,
                         said.empty() ? "its answer to CLUSTER SLOTS makes no sense" : said);
}

}  // namespace

/// One look for the map, at several nodes.
struct ClusterPort::Look {
  std::size_t under_way{0};
  bool over{false};
  /// From a node that has failed before.
  std::optional<SlotMap> second_best{};
  std::optional<Failure> failure{};
};

Result<std::shared_ptr<ClusterPort>> ClusterPort::create(runtime::AsioEnv& env,
                                                         ClusterSettings settings) {
  // Fails if any will.
  RedisTarget first = settings.common;
  if (auto driver = RedisDriver::create(env, std::move(first), settings.driver); !driver) {
    return Unexpected{std::move(driver).error()};
  }
  return std::shared_ptr<ClusterPort>{new ClusterPort{env, std::move(settings)}};
}

ClusterPort::ClusterPort(runtime::AsioEnv& env, ClusterSettings settings)
    : RoutedPort{env}, settings_{std::move(settings)} {}

ClusterPort::~ClusterPort() = default;

RoutedPort::Driver ClusterPort::at(const Address& address) {
  Driver& node = nodes_[address];
  if (!node) {
    RedisTarget target = settings_.common;
    target.host = address.host;
    target.port = address.port;
    auto driver = RedisDriver::create(env(), std::move(target), settings_.driver);
    if (driver) node = *std::move(driver);
  }
  return node;
}

RoutedPort::Driver ClusterPort::in_charge(const ScriptCall& call) {
  if (!map_) return nullptr;
  const std::uint16_t slot = call.keys.empty() ? 0 : hash_slot(call.keys.front());
  const auto master = map_->master_of(slot);
  return master ? at(*master) : nullptr;
}

void ClusterPort::moved(const Redirection& redirection) {
  if (!map_) return;
  if (!map_->masters().contains(redirection.to)) took_over(redirection.to);
  map_->move(redirection.slot, redirection.to);
}

void ClusterPort::took_over(const Address& master) {
  since_[master] = env().now();
  ++counted().takeovers;
}

void ClusterPort::distrust(const RedisDriver& driver) {
  distrusted_.insert(driver.target().node());
}

void ClusterPort::look(TimePoint by) {
  std::set<Address> candidates{settings_.seeds.begin(), settings_.seeds.end()};
  if (map_) candidates.merge(map_->masters());
  const auto look = std::make_shared<Look>();
  std::vector<Driver> asked;
  for (const Address& candidate : candidates) {
    if (const Driver node = at(candidate)) asked.push_back(node);
  }
  look->under_way = asked.size();
  if (asked.empty()) not_found({Error{Errc::unavailable, "no connection to a Redis cluster"}});
  for (const Driver& node : asked) {
    const auto weak = weak_from_this();
    node->command({"CLUSTER", "SLOTS"}, by, [weak, look, node](Result<Reply> slots) {
      const auto self = std::static_pointer_cast<ClusterPort>(weak.lock());
      if (self) self->answered(look, node, std::move(slots));
    });
  }
}

void ClusterPort::answered(const std::shared_ptr<Look>& look,
                           const Driver& node,
                           Result<Reply> slots) {
  --look->under_way;
  if (look->over) return;
  const RedisTarget& target = node->target();
  auto map = slots ? SlotMap::read(*slots, target.address()) : std::nullopt;
  if (map && map->masters().empty()) map.reset();
  if (map && !distrusted_.contains(target.node())) {
    look->over = true;
    return consider(*std::move(map));
  }
  if (map) {
    look->second_best = std::move(map);
  } else {
    Failure failure = slots ? not_a_map(target, *slots) : failure_of(slots.error());
    // What somebody must do something about is worth more than that others are away.
    const bool tells_more = !look->failure || failure.cause == Failure::Cause::lasting;
    if (tells_more) look->failure = std::move(failure);
  }
  if (look->under_way == 0) end(*look);
}

void ClusterPort::end(Look& look) {
  look.over = true;
  if (look.second_best) return consider(*std::move(look.second_best));
  not_found(*std::move(look.failure));
}

void ClusterPort::consider(SlotMap map) {
  if (spread_) return adopt(std::move(map));
  std::uint16_t slot = 0;
  while (!map.master_of(slot)) ++slot;
  probe(std::move(map), slot);
}

// Whether messages can stay in a slot: the server must have them, and let this user.
void ClusterPort::probe(SlotMap map, std::uint16_t slot) {
  const Driver node = at(*map.master_of(slot));
  if (!node) return not_found({Error{Errc::unavailable, "no connection"}});
  const std::string channel = settings_.prefix + "\x01swake:{" + slot_tag(slot) + "}:probe";
  const auto weak = weak_from_this();
  const auto told = [weak, node, map = std::move(map)](const Result<Reply>& reply) mutable {
    const auto self = std::static_pointer_cast<ClusterPort>(weak.lock());
    if (!self) return;
    if (!reply) return self->not_found(failure_of(reply.error()));
    const bool refused =
        reply->text.starts_with("NOPERM") || reply->text.starts_with("ERR unknown command");
    if (reply->kind == Reply::Kind::error && !refused) {
      return self->not_found(passing_failure(node->target(), reply->text));
    }
    self->spread_ = refused ? Spread::cluster : Spread::sharded_cluster;
    self->adopt(std::move(map));
  };
  node->command({"SPUBLISH", channel, ""}, env().now() + kProbePatience, told);
}

void ClusterPort::adopt(SlotMap map) {
  const std::set<Address> masters = map.masters();
  const std::set<Address> before = map_ ? map_->masters() : masters;
  for (const Address& master : masters) {
    if (!before.contains(master)) took_over(master);
  }
  std::erase_if(since_, [&](const auto& entry) { return !masters.contains(entry.first); });
  map_ = std::move(map);
  distrusted_.clear();
  move_ears();
  found();
  drop_others(masters);
}

void ClusterPort::drop_others(const std::set<Address>& masters) {
  std::vector<Driver> others;
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    if (masters.contains(node->first)) {
      ++node;
      continue;
    }
    if (node->second) others.push_back(std::move(node->second));
    node = nodes_.erase(node);
  }
  for (const Driver& other : others) other->retire();
}

std::vector<std::string> ClusterPort::key_of_each_server() const {
  std::map<Address, std::string> keys;
  for (std::uint16_t slot = 0; map_ && slot < kSlots; ++slot) {
    const auto master = map_->master_of(slot);
    if (master && !keys.contains(*master)) {
      keys[*master] = settings_.prefix + "\x01{" + slot_tag(slot) + '}';
    }
  }
  std::vector<std::string> one_each;
  for (auto& [master, key] : keys) one_each.push_back(std::move(key));
  return one_each;
}

TimePoint ClusterPort::in_charge_since(std::string_view key) const {
  const auto master = map_ ? map_->master_of(hash_slot(key)) : std::nullopt;
  const auto found = master ? since_.find(*master) : since_.end();
  return found == since_.end() ? TimePoint::min() : found->second;
}

void ClusterPort::subscribe(std::string channel, OnHeard on_heard) {
  const auto [place, added] = ears_.insert_or_assign(std::move(channel), Ear{std::move(on_heard)});
  hear(place->first, place->second);
}

void ClusterPort::unsubscribe(const std::string& channel) {
  const auto found = ears_.find(channel);
  if (found == ears_.end()) return;
  if (const auto node = found->second.at.lock()) node->unsubscribe(channel);
  ears_.erase(found);
}

// Where the messages of a slot stay in it, its master; otherwise any master, and that which
// already hears it.
std::optional<Address> ClusterPort::home_of(const std::string& channel) const {
  if (!map_) return std::nullopt;
  if (Keys::stays_in_slot(channel)) return map_->master_of(hash_slot(channel));
  const auto masters = map_->masters();
  for (const auto& [other, ear] : ears_) {
    const auto node = ear.at.lock();
    const Address address = node ? node->target().address() : Address{};
    if (masters.contains(address) && !distrusted_.contains(node->target().node())) return address;
  }
  return masters.empty() ? std::nullopt : std::optional{*masters.begin()};
}

void ClusterPort::hear(const std::string& channel, Ear& ear) {
  const auto home = home_of(channel);
  const Driver node = home ? at(*home) : nullptr;
  if (!node) return look_soon();
  const Driver before = ear.at.lock();
  if (before == node && node->subscribes(channel)) return;
  if (before && before != node) before->unsubscribe(channel);
  ear.at = node;
  const bool sharded = Keys::stays_in_slot(channel);
  node->subscribe({.channel = channel,
                   .reach = sharded ? Subscription::Reach::slot : Subscription::Reach::everywhere,
                   .on_heard = ear.on_heard,
                   .on_silence = [weak = weak_from_this(), node_name = node->target().node()] {
                     const auto self = std::static_pointer_cast<ClusterPort>(weak.lock());
                     if (!self) return;
                     self->distrusted_.insert(node_name);
                     self->look_soon();
                   }});
}

void ClusterPort::move_ears() {
  for (auto& [channel, ear] : ears_) hear(channel, ear);
}

}  // namespace holdfast::redis
