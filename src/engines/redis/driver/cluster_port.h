// ClusterPort: a Redis cluster as one RedisPort.
//
// A request goes to the master of its first key's slot, by a map that any node tells. The map is
// asked for again when a server says that it is wrong, or does not answer: of all nodes at once,
// and the first answer counts; that of a node which has just failed, only if there is no other.
//
// Channels are heard at the master of their slot where the servers have sharded messages (Redis 7),
// otherwise at any master, and move with it.
//
// Thread safety and lifetime: as RoutedPort.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engines/redis/driver/routed_port.h"
#include "engines/redis/driver/slot_map.h"
#include "engines/redis/redis_keys.h"

namespace holdfast::redis {

struct ClusterSettings {
  /// Nodes to begin with. Not empty.
  std::vector<Address> seeds;
  /// How to reach every node: all but host and port counts.
  RedisTarget common{};
  /// Of the channels that will be heard.
  std::string prefix{};
  RedisDriverSettings driver{};
};

class ClusterPort final : public RoutedPort {
 public:
  /// Connects to nothing yet. Any thread.
  /// invalid_argument: a file of the TLS settings cannot be used.
  static Result<std::shared_ptr<ClusterPort>> create(runtime::AsioEnv& env,
                                                     ClusterSettings settings);
  ~ClusterPort() override;

  /// Beside what RedisPort says: denied, invalid_argument as RedisDriver, and invalid_argument when
  /// the servers are no cluster.
  using RoutedPort::send;

  void subscribe(std::string channel, OnHeard on_heard) override;
  void unsubscribe(const std::string& channel) override;

  std::vector<std::string> key_of_each_server() const override;

  TimePoint in_charge_since(std::string_view key) const override;

  /// Known, and constant, once a request has been answered.
  Spread spread() const { return spread_.value_or(Spread::cluster); }

 private:
  struct Look;
  struct Ear {
    OnHeard on_heard;
    /// Where it is heard. Empty: nowhere.
    std::weak_ptr<RedisDriver> at{};
  };

  ClusterPort(runtime::AsioEnv& env, ClusterSettings settings);

  Driver in_charge(const ScriptCall& call) override;
  Driver at(const Address& address) override;
  void moved(const Redirection& redirection) override;
  void distrust(const RedisDriver& driver) override;
  void look(TimePoint by) override;

  void answered(const std::shared_ptr<Look>& look, const Driver& node, Result<Reply> slots);
  void end(Look& look);
  void consider(SlotMap map);
  void probe(SlotMap map, std::uint16_t slot);
  void adopt(SlotMap map);
  void took_over(const Address& master);
  void drop_others(const std::set<Address>& masters);

  std::optional<Address> home_of(const std::string& channel) const;
  void hear(const std::string& channel, Ear& ear);
  void move_ears();

  ClusterSettings settings_;
  std::map<Address, Driver> nodes_;
  std::optional<SlotMap> map_;
  std::optional<Spread> spread_;
  /// When a master was first seen, unless it was there from the beginning.
  std::map<Address, TimePoint> since_;
  /// Who has failed since the last look.
  std::set<std::string> distrusted_;
  std::map<std::string, Ear> ears_;
};

}  // namespace holdfast::redis
