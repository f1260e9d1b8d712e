#include "client/open_redis.h"

#include <algorithm>
#include <array>
#include <future>
#include <utility>

#include "base/percent.h"
#include "core/holder_note.h"
#include "core/session_backend.h"
#include "engines/redis/driver/redis_driver.h"
#include "engines/redis/driver/redis_url.h"
#include "engines/redis/redis_desk.h"
#include "engines/redis/redis_engine.h"
#include "engines/redis/redis_reply.h"
#include "engines/redis/store/redis_store.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using redis::RedisDriver;
using redis::RedisUrl;

/// KEYS identity; ARGV a new one. The one that was there first.
constexpr redis::Script kIdentityScript{"identity", R"lua(
local known = redis.call('GET', KEYS[1])
if not known then
  redis.call('SET', KEYS[1], ARGV[1])
end
return known or ARGV[1]
)lua"};

constexpr Millis kAttemptMax{1000};

/// What every client of this server and prefix calls it, however they spell its address.
Result<std::string> identity_of(runtime::AsioEnv& env,
                                const std::shared_ptr<RedisDriver>& driver,
                                const RedisUrl& url) {
  const auto call = redis::share({.script = &kIdentityScript,
                                  .keys = {url.prefix + "\x01identity"},
                                  .args = {env.fresh_owner().fingerprint()}});
  const auto answer = std::make_shared<std::promise<Result<redis::Reply>>>();
  auto answered = answer->get_future();
  env.post([&env, driver, call, answer, timeout = url.timeout] {
    driver->send(call, env.now() + timeout, [answer](Result<redis::Reply> reply) {
      answer->set_value(std::move(reply));
    });
  });
  const Result<redis::Reply> reply = answered.get();
  if (!reply) return Unexpected{reply.error()};
  if (reply->kind == redis::Reply::Kind::error) return Unexpected{redis::error_of(reply->text)};
  return reply->text;
}

core::StoreOpener store_opener(Env& env, std::shared_ptr<RedisDriver> driver, const RedisUrl& url) {
  redis::StoreSettings settings{.prefix = url.prefix, .timeout = url.timeout};
  settings.who = core::encode_note(core::make_note({}, {}));
  return [&env, driver = std::move(driver), settings = std::move(settings)] {
    return Result<std::shared_ptr<StoreBackend>>{
        std::make_shared<redis::RedisStore>(env, driver, settings)};
  };
}

}  // namespace

bool is_redis_url(std::string_view url) {
  constexpr std::array<std::string_view, 3> kSchemes{"redis:", "rediss:", "redis+unix:"};
  return std::ranges::any_of(kSchemes, [&](std::string_view scheme) {
    return std::ranges::equal(url.substr(0, scheme.size()), scheme, [](char c, char expected) {
      return c == expected || (c >= 'A' && c <= 'Z' && c - 'A' + 'a' == expected);
    });
  });
}

std::string shown_redis_url(const redis::RedisUrl& url) {
  const redis::RedisTarget& target = url.target;
  std::string shown = target.tls ? "rediss://" : "redis://";
  if (!target.socket_path.empty()) shown = "redis+unix://";
  shown += target.node();
  if (target.socket_path.empty()) shown += '/' + std::to_string(target.database);
  shown += "?prefix=" + percent_encode(url.prefix, "-._~:/");
  if (!target.socket_path.empty()) shown += "&db=" + std::to_string(target.database);
  return shown;
}

Result<std::shared_ptr<Backend>> open_redis(std::string_view url) {
  auto parsed = redis::parse_redis_url(url);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  auto driver = RedisDriver::create(**env, parsed->target);
  if (!driver) return Unexpected{std::move(driver).error()};
  const auto identity = identity_of(**env, *driver, *parsed);
  if (!identity) return Unexpected{identity.error()};

  const redis::Settings settings{.prefix = parsed->prefix,
                                 .timeout = std::min(parsed->timeout, kAttemptMax),
                                 .patience = parsed->timeout};
  auto engine = std::make_shared<redis::RedisEngine>(**env, *driver, settings);
  auto desk = std::make_shared<redis::RedisDesk>(**env, *driver, engine, parsed->prefix);
  core::SessionSettings session{.url = shown_redis_url(*parsed),
                                .domain = "redis:" + *identity,
                                .can = {.shared = true,
                                        .permits = true,
                                        .fifo = true,
                                        .detached = true,
                                        .lock_delay = true,
                                        .watch = true,
                                        .store = true},
                                .timeout = parsed->timeout};
  core::SessionParts parts{.env = nullptr,
                           .engine = std::move(engine),
                           .desk = std::move(desk),
                           .open_store = store_opener(**env, *std::move(driver), *parsed)};
  parts.env = *std::move(env);
  return std::shared_ptr<Backend>{
      core::SessionBackend::start(std::move(parts), std::move(session))};
}

}  // namespace holdfast
