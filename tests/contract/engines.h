// The engines the contract suite runs on, and the one table of what each cannot do.

#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "holdfast/inspect.h"
#include "holdfast/options.h"
#include "holdfast/store_types.h"

namespace holdfast::contract {

/// An engine without any locks, for one test. What it needs on disk goes with it.
struct FreshEngine {
  std::string url;
  std::shared_ptr<void> resources;
  /// The same engine for those who take locks and resources away from others, where that is a right
  /// of its own; empty: it is not.
  std::string operator_url{};
};

struct EngineUnderTest {
  std::string name;
  std::function<FreshEngine()> fresh;
  /// A test of what an engine cannot do checks that it says so instead. There is no other way to
  /// leave a test out.
  Capabilities can;
  /// The TTL of those who are to die. Long where the engine notices a death itself, so that waiting
  /// for the TTL fails the test; short where only the TTL tells.
  Millis ttl_of_the_dying{std::chrono::minutes{10}};
  /// What a shorter TTL is raised to.
  Millis ttl_min{kTtlMin};
  /// What the engine's servers take in one value.
  std::size_t value_bytes_max{kValueBytesMax};
};

/// What the guide tells to give a user that Holdfast connects as.
inline constexpr const char* kRestrictedRights =
    "on resetkeys resetchannels ~hf:* ~{hf:* &hf:* -@all +eval +evalsha +time +scan +get +set +del "
    "+exists +pttl +persist +pexpire +pexpireat +lindex +lpop +lpush +lrange +lrem +ltrim +rpush "
    "+hget +hgetall +hlen +hmget +hset +hdel +hexists +xadd +publish +subscribe +unsubscribe +ping";

/// And on a cluster.
inline constexpr const char* kClusterRights =
    "+cluster|slots +asking +spublish +ssubscribe +sunsubscribe";

std::vector<EngineUnderTest> engines_under_test();

/// The engines as campaigns use them: one way each, and where it can be chosen without waiting for
/// the disk, since no power is lost.
std::vector<EngineUnderTest> campaign_engines();

inline void PrintTo(const EngineUnderTest& engine, std::ostream* out) { *out << engine.name; }

}  // namespace holdfast::contract
