#include "client/engine_url.h"
#include "client/open_etcd.h"
#include "client/open_postgres.h"
#include "client/open_redis.h"
#include "client/open_redlock.h"
#include "client/open_zookeeper.h"
#include "client/prefix_backend.h"
#include "client/redlock_url.h"
#include "engines/etcd/driver/etcd_url.h"
#include "engines/local/local_backend.h"
#include "engines/postgres/driver/postgres_url.h"
#include "engines/zookeeper/driver/zookeeper_url.h"
#include "holdfast/client.h"

namespace holdfast {

Result<Client> Client::connect(std::string_view url) {
  if (is_redis_url(url)) {
    auto backend = open_redis(url);
    if (!backend) return Unexpected{std::move(backend).error()};
    return Client{std::move(*backend)};
  }
  if (is_redlock_url(url)) {
    auto backend = open_redlock(url);
    if (!backend) return Unexpected{std::move(backend).error()};
    return Client{std::move(*backend)};
  }
  if (etcd::is_etcd_url(url)) {
    auto backend = open_etcd(url);
    if (!backend) return Unexpected{std::move(backend).error()};
    return Client{std::move(*backend)};
  }
  if (zookeeper::is_zookeeper_url(url)) {
    auto backend = open_zookeeper(url);
    if (!backend) return Unexpected{std::move(backend).error()};
    return Client{std::move(*backend)};
  }
  if (postgres::is_postgres_url(url)) {
    auto backend = open_postgres(url);
    if (!backend) return Unexpected{std::move(backend).error()};
    return Client{std::move(*backend)};
  }
  auto parsed = parse_engine_url(url);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  local::StoreSettings settings{.sync = parsed->sync};
  if (parsed->timeout) settings.timeout = *parsed->timeout;
  auto backend = local::open_backend(std::move(parsed->directory), settings);
  if (!backend) return Unexpected{std::move(backend).error()};
  if (parsed->prefix.empty()) return Client{std::move(*backend)};
  return Client{with_prefix(std::move(*backend), std::move(parsed->prefix))};
}

Result<Store> Store::connect(std::string_view url) {
  auto client = Client::connect(url);
  if (!client) return Unexpected{std::move(client).error()};
  return client->store();
}

}  // namespace holdfast
