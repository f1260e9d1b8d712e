#include "client/diagnose_redis.h"

#include <optional>
#include <utility>
#include <vector>

#include "client/open_redis.h"
#include "client/redlock_url.h"
#include "client/shown_redis_url.h"
#include "engines/redis/doctor/examine.h"
#include "engines/redis/doctor/node_findings.h"
#include "engines/redis/doctor/set_findings.h"
#include "engines/redlock/node_set.h"

namespace holdfast {
namespace {

using redis::RedisDriver;
using redis::RedisTarget;
using redis::RedisUrl;

/// The name of a set without that of the member, which is the last word.
std::string fingerprint_of(const std::string& membership) {
  return membership.substr(0, membership.rfind(' '));
}

Result<redis::NodeFacts> examine_at(runtime::AsioEnv& env,
                                    const RedisTarget& target,
                                    const std::string& prefix,
                                    Millis timeout,
                                    const std::optional<redis::Trial>& trial = redis::Trial{}) {
  auto driver = RedisDriver::create(env, target);
  if (!driver) return Unexpected{std::move(driver).error()};
  const RedisUrl url{.target = target, .prefix = prefix, .timeout = timeout};
  auto facts = redis::examine(env, *driver, url, trial);
  if (!facts) return facts;
  const auto membership = redis::text_at(env, *driver, redlock::Keys::membership(prefix), timeout);
  if (membership && *membership) facts->fingerprint = fingerprint_of(**membership);
  return facts;
}

RedisTarget target_at(const RedisUrl& url, const redis::Address& address) {
  RedisTarget target = url.target;
  target.host = address.host;
  target.port = address.port;
  return target;
}

/// The first sentinel that can be asked tells.
Result<RedisTarget> master_behind(runtime::AsioEnv& env, const RedisUrl& url) {
  Error failure{Errc::unavailable,
                "no sentinel knows a server called " + url.master_name,
                "check the name at the end of the URL"};
  for (const redis::Address& address : url.nodes) {
    RedisTarget target = target_at(url, address);
    target.user = url.sentinel_user;
    target.password = url.sentinel_password;
    target.database = 0;
    auto sentinel = RedisDriver::create(env, target);
    if (!sentinel) return Unexpected{std::move(sentinel).error()};
    const auto told = redis::master_told_by(env, *sentinel, url.master_name, url.timeout);
    if (!told) failure = told.error();
    if (told && *told) return target_at(url, **told);
  }
  return Unexpected{std::move(failure)};
}

/// The first node that can be asked tells.
Result<redis::SlotMap> slots_of(runtime::AsioEnv& env, const RedisUrl& url) {
  std::optional<Error> failure;
  for (const redis::Address& address : url.nodes) {
    auto node = RedisDriver::create(env, target_at(url, address));
    if (!node) return Unexpected{std::move(node).error()};
    auto map = redis::slots_told_by(env, *node, address, url.timeout);
    if (map) return map;
    if (!failure) failure = std::move(map).error();
  }
  return Unexpected{*std::move(failure)};
}

Result<core::Findings> cluster_findings(runtime::AsioEnv& env, const RedisUrl& url) {
  const auto map = slots_of(env, url);
  if (!map) return Unexpected{map.error()};
  std::vector<redis::ExaminedNode> masters;
  for (const redis::Address& master : map->masters()) {
    const RedisTarget target = target_at(url, master);
    const auto trial = redis::trial_at(master, *map, url.prefix);
    masters.push_back(
        {.node = target.node(), .facts = examine_at(env, target, url.prefix, url.timeout, trial)});
  }
  return redis::findings_of_cluster(masters);
}

Result<core::Findings> server_findings(runtime::AsioEnv& env, const RedisUrl& url) {
  RedisTarget server = url.target;
  if (url.kind == RedisUrl::Kind::sentinel) {
    auto master = master_behind(env, url);
    if (!master) return Unexpected{std::move(master).error()};
    server = *std::move(master);
  }
  const auto facts = examine_at(env, server, url.prefix, url.timeout);
  if (!facts) return Unexpected{facts.error()};
  return redis::findings_of(*facts, redis::Trust::itself);
}

}  // namespace

Result<Diagnosis> diagnose_redis(std::string_view url) {
  const auto parsed = redis::parse_redis_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  const auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{env.error()};
  const bool is_cluster = parsed->kind == RedisUrl::Kind::cluster;
  auto findings = is_cluster ? cluster_findings(**env, *parsed) : server_findings(**env, *parsed);
  if (!findings) return Unexpected{std::move(findings).error()};
  return Diagnosis{.engine = shown_redis_url(*parsed), .findings = *std::move(findings)};
}

Result<Diagnosis> diagnose_redlock(std::string_view url) {
  const auto parsed = parse_redlock_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  const auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{env.error()};
  std::vector<redis::ExaminedNode> nodes;
  for (const RedisTarget& node : parsed->nodes) {
    nodes.push_back(
        {.node = node.node(), .facts = examine_at(**env, node, parsed->prefix, parsed->timeout)});
  }
  return Diagnosis{.engine = parsed->shown(), .findings = redis::findings_of_set(nodes)};
}

}  // namespace holdfast
