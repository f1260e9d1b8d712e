#include "client/open_redis.h"

#include <algorithm>
#include <array>
#include <future>
#include <utility>

#include "client/shown_redis_url.h"
#include "core/holder_note.h"
#include "core/session_backend.h"
#include "core/url_text.h"
#include "engines/redis/driver/cluster_port.h"
#include "engines/redis/driver/redis_driver.h"
#include "engines/redis/driver/redis_url.h"
#include "engines/redis/driver/sentinel_port.h"
#include "engines/redis/redis_desk.h"
#include "engines/redis/redis_engine.h"
#include "engines/redis/redis_limits.h"
#include "engines/redis/redis_reply.h"
#include "engines/redis/store/redis_store.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using redis::RedisPort;
using redis::RedisUrl;

/// KEYS identity; ARGV a new one. The one that was there first.
constexpr redis::Script kIdentityScript{"identity", R"lua(
local known = redis.call('GET', KEYS[1])
if not known then
  redis.call('SET', KEYS[1], ARGV[1])
end
return known or ARGV[1]
)lua"};

/// How to reach the servers, and where they keep the keys.
struct Servers {
  std::shared_ptr<RedisPort> port;
  redis::Spread spread{redis::Spread::one_server};
  /// What every client of these servers and this prefix calls them, however they spell the URL.
  std::string identity;
};

redis::SentinelSettings sentinels_of(const RedisUrl& url) {
  redis::SentinelSettings settings{
      .sentinels = {}, .master_name = url.master_name, .master = url.target};
  for (const redis::Address& address : url.nodes) {
    redis::RedisTarget sentinel = url.target;
    sentinel.host = address.host;
    sentinel.port = address.port;
    sentinel.user = url.sentinel_user;
    sentinel.password = url.sentinel_password;
    sentinel.database = 0;
    settings.sentinels.push_back(std::move(sentinel));
  }
  return settings;
}

template <class Port>
Result<std::shared_ptr<RedisPort>> as_port(Result<std::shared_ptr<Port>> made) {
  if (!made) return Unexpected{std::move(made).error()};
  return std::shared_ptr<RedisPort>{*std::move(made)};
}

Result<std::shared_ptr<RedisPort>> make_port(runtime::AsioEnv& env, const RedisUrl& url) {
  switch (url.kind) {
    case RedisUrl::Kind::cluster:
      return as_port(redis::ClusterPort::create(
          env, {.seeds = url.nodes, .common = url.target, .prefix = url.prefix}));
    case RedisUrl::Kind::sentinel:
      return as_port(redis::SentinelPort::create(env, sentinels_of(url)));
    case RedisUrl::Kind::server:
      break;
  }
  return as_port(redis::RedisDriver::create(env, url.target));
}

/// A cluster is known once it has answered.
redis::Spread spread_of(const std::shared_ptr<RedisPort>& port, const RedisUrl& url) {
  if (url.kind != RedisUrl::Kind::cluster) return redis::Spread::one_server;
  return std::static_pointer_cast<redis::ClusterPort>(port)->spread();
}

/// Asks who the servers are.
Result<Servers> meet(runtime::AsioEnv& env, const RedisUrl& url) {
  const auto port = make_port(env, url);
  if (!port) return Unexpected{port.error()};
  const auto call = redis::share({.script = &kIdentityScript,
                                  .keys = {url.prefix + "\x01identity"},
                                  .args = {env.fresh_owner().fingerprint()}});
  using Met = Result<Servers>;
  const auto answer = std::make_shared<std::promise<Met>>();
  auto answered = answer->get_future();
  env.post([&env, port = *port, call, answer, &url] {
    const auto on_answer = [answer, port, &url](const Result<redis::Reply>& reply) {
      if (!reply) return answer->set_value(Unexpected{reply.error()});
      const bool refused = reply->kind == redis::Reply::Kind::error;
      if (refused) return answer->set_value(Unexpected{redis::error_of(reply->text)});
      answer->set_value(Servers{port, spread_of(port, url), reply->text});
    };
    port->send(call, env.now() + url.timeout, on_answer);
  });
  return answered.get();
}

core::StoreOpener store_opener(Env& env, const Servers& servers, const RedisUrl& url) {
  redis::StoreSettings settings{
      .prefix = url.prefix, .spread = servers.spread, .timeout = url.timeout};
  settings.who = core::encode_note(core::make_note({}, {}));
  return [&env, port = servers.port, settings = std::move(settings)] {
    return Result<std::shared_ptr<StoreBackend>>{
        std::make_shared<redis::RedisStore>(env, port, settings)};
  };
}

}  // namespace

bool is_redis_url(std::string_view url) {
  constexpr std::array<std::string_view, 4> kSchemes{"redis:", "rediss:", "redis+", "rediss+"};
  return std::ranges::any_of(
      kSchemes, [&](std::string_view scheme) { return core::has_scheme(url, scheme); });
}

Result<std::shared_ptr<Backend>> open_redis(std::string_view url) {
  auto parsed = redis::parse_redis_url(url);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  const auto servers = meet(**env, *parsed);
  if (!servers) return Unexpected{servers.error()};

  const redis::Settings settings{.prefix = parsed->prefix,
                                 .spread = servers->spread,
                                 .timeout = core::attempt_timeout(parsed->timeout),
                                 .patience = parsed->timeout};
  auto engine = std::make_shared<redis::RedisEngine>(**env, servers->port, settings);
  auto desk = std::make_shared<redis::RedisDesk>(
      **env, servers->port, engine, redis::Keys{parsed->prefix, servers->spread});
  core::SessionSettings session{.url = shown_redis_url(*parsed),
                                .domain = "redis:" + servers->identity,
                                .can = {.shared = true,
                                        .permits = true,
                                        .fifo = true,
                                        .detached = true,
                                        .lock_delay = true,
                                        .watch = true,
                                        .store = true},
                                .timeout = parsed->timeout};
  core::SessionParts parts{
      .env = nullptr,
      .engine = std::move(engine),
      .desk = std::move(desk),
      .open_store = store_opener(**env, *servers, *parsed),
      .limits = std::make_shared<redis::RedisLimits>(servers->port, parsed->prefix)};
  parts.env = *std::move(env);
  return std::shared_ptr<Backend>{
      core::SessionBackend::start(std::move(parts), std::move(session))};
}

}  // namespace holdfast
