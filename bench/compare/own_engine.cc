#include "bench/compare/own_engine.h"

#include <vector>

#include "base/assert.h"
#include "bench/etcd/server.h"
#include "bench/postgres/server.h"
#include "bench/redis/server.h"
#include "bench/scratch.h"
#include "bench/zookeeper/server.h"
#include "client/redlock_admin.h"
#include "holdfast/options.h"

namespace holdfast::bench {
namespace {

constexpr std::size_t kRedlockNodes = 3;

/// With one server, whose URL is all there is to know.
template <class Server>
Result<OwnEngine> start_one() {
  auto server = Server::start();
  if (!server) return Unexpected{server.error()};
  std::string url = (*server)->url();
  return OwnEngine{.url = std::move(url), .servers = std::shared_ptr<Server>{*std::move(server)}};
}

Result<OwnEngine> start_local() {
  auto directory = std::make_shared<Scratch>();
  if (directory->path().empty()) {
    return Unexpected{Error{Errc::io_error, "cannot make a temporary directory"}};
  }
  std::string url = "local:" + directory->path();
  return OwnEngine{.url = std::move(url), .servers = std::move(directory)};
}

Result<void> found(const std::string& url) {
  const redlock::Founding founding{.longest_ttl = kTtlMax};
  const auto set = found_redlock(url, founding, nullptr, {});
  if (!set) return Unexpected{set.error()};
  return {};
}

Result<OwnEngine> start_redlock() {
  auto nodes = std::make_shared<std::vector<std::unique_ptr<RedisServer>>>();
  std::string url = "redlock://";
  for (std::size_t i = 0; i < kRedlockNodes; ++i) {
    auto node = RedisServer::start();
    if (!node) return Unexpected{node.error()};
    url += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string((*node)->port());
    nodes->push_back(*std::move(node));
  }
  return OwnEngine{
      .url = url, .prepare = [url] { return found(url); }, .servers = std::move(nodes)};
}

Result<OwnEngine> start_postgres(const std::string& mode) {
  auto server = PostgresServer::start();
  if (!server) return Unexpected{server.error()};
  std::string url = (*server)->url(mode);
  return OwnEngine{.url = std::move(url),
                   .servers = std::shared_ptr<PostgresServer>{*std::move(server)}};
}

}  // namespace

Result<OwnEngine> start_engine(std::string_view name) {
  if (name == "local") return start_local();
  if (name == "redis") return start_one<RedisServer>();
  if (name == "redlock") return start_redlock();
  if (name == "etcd") return start_one<EtcdServer>();
  if (name == "zookeeper") return start_one<ZookeeperServer>();
  if (name == "postgres") return start_postgres("lease");
  HOLDFAST_ASSERT(name == "postgres-advisory");
  return start_postgres("advisory");
}

}  // namespace holdfast::bench
