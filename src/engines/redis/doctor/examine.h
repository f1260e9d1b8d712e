// Asks a Redis server for what a doctor wants to know.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engines/redis/doctor/node_facts.h"
#include "engines/redis/driver/redis_driver.h"
#include "engines/redis/driver/redis_url.h"
#include "engines/redis/driver/slot_map.h"
#include "engines/redis/redis_keys.h"
#include "holdfast/result.h"
#include "runtime/asio_env.h"

namespace holdfast::redis {

/// The lock under whose keys is tried what the user may do. No program can have one of that name.
struct Trial {
  LockName name{"\x01probe"};
  /// Where keys lie. cluster: whether messages are sharded is the server's to say.
  Spread spread{Spread::one_server};
};

/// On a cluster, a trial whose keys lie with that master. Empty: no name under this prefix does.
std::optional<Trial> trial_at(const Address& master, const SlotMap& map, const std::string& prefix);

/// Blocks until all is read; writes a few keys of its own under the prefix for that, and removes
/// them; without a trial it writes nothing. What the user may not ask stays empty.
///
/// Errors as RedisDriver::send(): the server could not be asked at all. Precondition: not within a
/// task of the Env.
Result<NodeFacts> examine(runtime::AsioEnv& env,
                          const std::shared_ptr<RedisDriver>& driver,
                          const RedisUrl& url,
                          const std::optional<Trial>& trial = Trial{});

/// The text at a key; empty where there is none. Failures and precondition as examine().
Result<std::optional<std::string>> text_at(runtime::AsioEnv& env,
                                           const std::shared_ptr<RedisDriver>& driver,
                                           const std::string& key,
                                           Millis timeout);

/// Where a sentinel says that the server of that name is; empty where it knows none. Failures and
/// precondition as examine().
Result<std::optional<Address>> master_told_by(runtime::AsioEnv& env,
                                              const std::shared_ptr<RedisDriver>& sentinel,
                                              const std::string& name,
                                              Millis timeout);

/// Which masters a cluster has, as one of its nodes, at `asked`, tells. invalid_argument: it is no
/// node of a cluster. Otherwise failures and precondition as examine().
Result<SlotMap> slots_told_by(runtime::AsioEnv& env,
                              const std::shared_ptr<RedisDriver>& node,
                              const Address& asked,
                              Millis timeout);

}  // namespace holdfast::redis
