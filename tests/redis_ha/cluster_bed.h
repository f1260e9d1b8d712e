// What the tests of clusters share: looking for names on a certain master, and moving slots.

#pragma once

#include <poll.h>

#include <string>

#include "engines/redis/hash_slot.h"
#include "holdfast/client.h"
#include "tests/ports/redis_cluster.h"

namespace holdfast::ha {

inline constexpr std::chrono::seconds kPatience{30};

/// Whether the condition became true in time.
template <class Condition>
bool eventually(Condition condition) {
  const TimePoint limit = BootClock::now() + kPatience;
  while (!condition()) {
    if (BootClock::now() > limit) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

/// A lock name that lies on that master.
inline std::string name_on(const ports::RedisCluster& cluster, std::size_t master) {
  for (int i = 0;; ++i) {
    std::string name = "lock" + std::to_string(i);
    if (cluster.master_of("hf:" + name) == master) return name;
  }
}

/// One slot on its way from one master to another.
class Migration {
 public:
  /// Both masters know of it, and no key has moved.
  Migration(ports::RedisCluster& cluster, std::uint16_t slot, std::size_t from, std::size_t to)
      : cluster_{cluster}, slot_{std::to_string(slot)}, from_{from}, to_{to} {
    cluster_.command(to_, {"CLUSTER", "SETSLOT", slot_, "IMPORTING", cluster_.id(from_)});
    cluster_.command(from_, {"CLUSTER", "SETSLOT", slot_, "MIGRATING", cluster_.id(to_)});
  }

  void move_keys() {
    const auto keys = cluster_.command(from_, {"CLUSTER", "GETKEYSINSLOT", slot_, "1000"});
    const std::string port = std::to_string(cluster_.port(to_));
    for (const auto& key : keys.items) {
      cluster_.command(from_, {"MIGRATE", "127.0.0.1", port, key.text, "0", "5000"});
    }
  }

  /// The slot belongs to the other master from now on.
  void finish() {
    move_keys();
    cluster_.command(to_, {"CLUSTER", "SETSLOT", slot_, "NODE", cluster_.id(to_)});
    cluster_.command(from_, {"CLUSTER", "SETSLOT", slot_, "NODE", cluster_.id(to_)});
  }

 private:
  ports::RedisCluster& cluster_;
  std::string slot_;
  std::size_t from_;
  std::size_t to_;
};

}  // namespace holdfast::ha
