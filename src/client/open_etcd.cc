#include "client/open_etcd.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/wall_clock.h"
#include "client/shown_etcd_url.h"
#include "core/holder_note.h"
#include "core/session_backend.h"
#include "engines/etcd/driver/etcd_driver.h"
#include "engines/etcd/driver/etcd_url.h"
#include "engines/etcd/etcd_desk.h"
#include "engines/etcd/etcd_engine.h"
#include "engines/etcd/store/etcd_limits.h"
#include "engines/etcd/store/etcd_store.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using etcd::EtcdPort;
using etcd::EtcdUrl;

struct Cluster {
  std::shared_ptr<EtcdPort> port;
  /// What every client of this cluster and prefix calls it, however they spell the URL. A restored
  /// backup keeps it, and with it the marks that lock out tokens which have gone back.
  std::string identity;
};

etcd::Txn who_are_you(const std::string& key, std::string fresh) {
  etcd::Txn txn;
  txn.when.push_back(etcd::Compare{.key = key});
  txn.then.push_back(etcd::Put{.key = key, .value = std::move(fresh)});
  txn.then.push_back(etcd::Range{.keys = {key}});
  txn.otherwise.push_back(etcd::Range{.keys = {key}});
  return txn;
}

/// Asks who the cluster is. It is safe to ask again: the first name stays.
Result<Cluster> meet(runtime::AsioEnv& env, const EtcdUrl& url) {
  auto driver = etcd::EtcdDriver::create(env, url.target);
  if (!driver) return Unexpected{std::move(driver).error()};
  const std::shared_ptr<EtcdPort> port = *std::move(driver);
  const auto txn =
      etcd::share(who_are_you(url.prefix + "\x01identity", env.fresh_owner().fingerprint()));
  const auto answer = std::make_shared<std::promise<Result<Cluster>>>();
  auto answered = answer->get_future();
  env.post([&env, port, txn, answer, timeout = url.timeout] {
    port->commit(txn, env.now() + timeout, [answer, port](Result<etcd::TxnAnswer> told) {
      if (!told) return answer->set_value(Unexpected{std::move(told).error()});
      const auto& found = told->answers.back().found;
      answer->set_value(Cluster{port, found.empty() ? std::string{} : found.front().value});
    });
  });
  return answered.get();
}

core::StoreOpener store_opener(Env& env, const Cluster& cluster, const EtcdUrl& url) {
  etcd::StoreSettings settings{
      .prefix = url.prefix, .domain = "etcd:" + cluster.identity, .timeout = url.timeout};
  settings.who = core::encode_note(core::make_note({}, {}));
  return [&env, port = cluster.port, settings = std::move(settings)] {
    return Result<std::shared_ptr<StoreBackend>>{
        std::make_shared<etcd::EtcdStore>(env, port, settings)};
  };
}

std::shared_ptr<core::LimitDesk> limits_of(Env& env, const Cluster& cluster, const EtcdUrl& url) {
  const auto wall_clock = [] { return Duration{Millis{wall_ms()}}; };
  return std::make_shared<core::LeasedLimits>(
      env, std::make_shared<etcd::EtcdLimits>(env, cluster.port, url.prefix, wall_clock));
}

}  // namespace

Result<std::shared_ptr<Backend>> open_etcd(std::string_view url) {
  auto parsed = etcd::parse_etcd_url(url);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  const auto cluster = meet(**env, *parsed);
  if (!cluster) return Unexpected{cluster.error()};

  const etcd::Settings settings{.prefix = parsed->prefix,
                                .timeout = core::attempt_timeout(parsed->timeout),
                                .patience = parsed->timeout};
  core::SessionSettings session{
      .url = shown_etcd_url(*parsed),
      .domain = "etcd:" + cluster->identity,
      .can = {.shared = true,
              .permits = true,
              .fifo = true,
              .detached = true,
              .lock_delay = false,
              .watch = true,
              .store = true},
      .why_not_more = "etcd ends a lease and with it the lock in one step",
      .timeout = parsed->timeout};
  core::SessionParts parts{
      .env = nullptr,
      .engine = std::make_shared<etcd::EtcdEngine>(**env, cluster->port, settings),
      .desk = std::make_shared<etcd::EtcdDesk>(**env, cluster->port, settings),
      .open_store = store_opener(**env, *cluster, *parsed),
      .limits = limits_of(**env, *cluster, *parsed)};
  parts.env = *std::move(env);
  return std::shared_ptr<Backend>{
      core::SessionBackend::start(std::move(parts), std::move(session))};
}

}  // namespace holdfast
