// SentinelPort: the Redis server that sentinels call the master, as one RedisPort.
//
// All sentinels are asked at once. What most of them say counts, and only if that server says of
// itself that it is a master. They are asked again when it does not answer or takes no writes, and
// when a sentinel tells of a failover.
//
// A failover loses what the new master had not been told; so does the old one that went on for a
// while. Leases that are gone after it end as lost to a failover (RedisEngine).
//
// Thread safety and lifetime: as RoutedPort.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/redis/driver/routed_port.h"

namespace holdfast::redis {

struct SentinelSettings {
  /// Where the sentinels are, and as whom to ask them. Not empty.
  std::vector<RedisTarget> sentinels;
  /// What they call the server.
  std::string master_name;
  /// How to reach it: all but host and port counts.
  RedisTarget master{};
  RedisDriverSettings driver{};
};

class SentinelPort final : public RoutedPort {
 public:
  /// Connects to nothing yet. Any thread.
  /// invalid_argument: a file of the TLS settings cannot be used.
  static Result<std::shared_ptr<SentinelPort>> create(runtime::AsioEnv& env,
                                                      SentinelSettings settings);
  ~SentinelPort() override;

  /// Beside what RedisPort says: denied, invalid_argument as RedisDriver, and invalid_argument when
  /// the sentinels know no such master.
  using RoutedPort::send;

  void subscribe(std::string channel, OnHeard on_heard) override;
  void unsubscribe(const std::string& channel) override;

  TimePoint in_charge_since(std::string_view key) const override;

 private:
  struct Look;

  SentinelPort(runtime::AsioEnv& env, SentinelSettings settings, std::vector<Driver> sentinels);

  Driver in_charge(const ScriptCall& call) override;
  Driver at(const Address& address) override;
  void moved(const Redirection& redirection) override;
  void distrust(const RedisDriver& driver) override;
  void look(TimePoint by) override;

  void watch_sentinels();
  void told(const std::shared_ptr<Look>& look, const Driver& sentinel, Result<Reply> address);
  void decide(const std::shared_ptr<Look>& look);
  void verify(const std::shared_ptr<Look>& look, const Address& address);
  void adopt(const Driver& master);

  SentinelSettings settings_;
  std::vector<Driver> sentinels_;
  bool watching_{false};
  Driver master_;
  TimePoint since_{TimePoint::min()};
  std::map<std::string, OnHeard> ears_;
};

}  // namespace holdfast::redis
