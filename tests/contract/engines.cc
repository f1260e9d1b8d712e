#include "tests/contract/engines.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/contract/postgres_engines.h"
#include "tests/contract/redlock_nodes.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/ports/redis_cluster.h"
#include "tests/ports/redis_process.h"
#include "tests/redis/certificates.h"
#include "tests/zookeeper/leader_kills.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::contract {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "holdfast-contract-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error{"cannot create " + path_};
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

FreshEngine fresh_local(const std::string& query) {
  auto directory = std::make_shared<TemporaryDirectory>();
  return {.url = "local:" + directory->path() + query, .resources = directory};
}

FreshEngine fresh_redis(const std::string& parameters) {
  auto server = std::make_shared<ports::RedisProcess>();
  return {.url = "redis+unix://" + server->socket() + parameters, .resources = server};
}

FreshEngine fresh_redlock(std::size_t nodes, const Trouble& trouble = {}) {
  auto set = std::make_shared<RedlockNodes>(nodes, trouble);
  return {.url = set->url(), .resources = set};
}

void add_words(std::vector<std::string>& words, const std::string& text) {
  std::istringstream rest{text};
  for (std::string word; rest >> word;) words.push_back(word);
}

std::string write_password(const TemporaryDirectory& directory) {
  std::string file = directory.path() + "/password";
  std::ofstream{file} << "secret\n";
  return file;
}

/// A server that speaks TLS alone, and knows nobody but a user with the rights of
/// docs/guide/redis.md.
struct GuardedRedis {
  TemporaryDirectory directory;
  redis::Authority authority;
  std::unique_ptr<ports::RedisProcess> server;
};

FreshEngine fresh_guarded_redis() {
  const auto guarded = std::make_shared<GuardedRedis>();
  const redis::Authority& authority = guarded->authority;
  guarded->authority.vouch_for("server", "DNS:localhost");
  guarded->authority.vouch_for("client", "DNS:client");
  const std::string port = std::to_string(ports::free_port());
  std::vector<std::string> arguments{"--tls-port", port, "--tls-ca-cert-file", authority.ca_file()};
  arguments.insert(arguments.end(), {"--tls-cert-file", authority.cert_file("server")});
  arguments.insert(arguments.end(), {"--tls-key-file", authority.key_file("server")});
  arguments.insert(arguments.end(), {"--user", "default", "off", "--user", "app", ">secret"});
  add_words(arguments, kRestrictedRights);
  guarded->server = std::make_unique<ports::RedisProcess>(arguments);
  const std::string password_file = write_password(guarded->directory);
  return {.url = "rediss://app@localhost:" + port + "?password_file=" + password_file +
                 "&ca=" + authority.ca_file() + "&cert=" + authority.cert_file("client") +
                 "&key=" + authority.key_file("client"),
          .resources = guarded};
}

/// Three masters, and the same user.
struct GuardedCluster {
  explicit GuardedCluster(ports::RedisCluster::Shape shape) : cluster{std::move(shape)} {}

  TemporaryDirectory directory;
  ports::RedisCluster cluster;
};

/// One for all tests of this program: it takes seconds to come about. Each has its own prefix.
FreshEngine fresh_cluster() {
  static const auto guarded = [] {
    std::vector<std::string> arguments{"--user", "app", ">secret"};
    add_words(arguments, std::string{kRestrictedRights} + ' ' + kClusterRights);
    return std::make_shared<GuardedCluster>(ports::RedisCluster::Shape{.arguments = arguments});
  }();
  static int number = 0;
  const std::string password_file = write_password(guarded->directory);
  return {.url = "redis+cluster://app@" + guarded->cluster.addresses() + "?password_file=" +
                 password_file + "&prefix=hf:test%20" + std::to_string(++number) + ":",
          .resources = guarded};
}

std::string next_prefix() {
  static int number = 0;
  return "prefix=hf/test%20" + std::to_string(++number) + "/";
}

/// One server alone needs no time for elections, and so grants shorter leases.
std::vector<std::string> timing(std::size_t nodes) {
  if (nodes > 1) return {};
  return {"--heartbeat-interval=50", "--election-timeout=500"};
}

/// Of some servers, of which some are down. One for all tests of this program, as above.
template <std::size_t kNodes, std::size_t kDown>
FreshEngine fresh_etcd() {
  static const auto cluster = [] {
    auto made = std::make_shared<etcd::EtcdCluster>(
        etcd::EtcdCluster::Shape{.nodes = kNodes, .settings = {.arguments = timing(kNodes)}});
    for (std::size_t i = 0; i < kDown; ++i) made->node(i).kill();
    static_cast<void>(made->wait_for_leader());
    return made;
  }();
  return {.url = "etcd://" + cluster->endpoints() + "?" + next_prefix(), .resources = cluster};
}

/// A server that speaks TLS alone and wants to see a certificate, and a user with the rights of
/// docs/guide/etcd.md.
struct GuardedEtcd {
  TemporaryDirectory directory;
  redis::Authority authority;
  std::unique_ptr<etcd::EtcdCluster> cluster;
};

std::shared_ptr<GuardedEtcd> make_guarded_etcd() {
  const auto guarded = std::make_shared<GuardedEtcd>();
  redis::Authority& authority = guarded->authority;
  authority.vouch_for("server", "IP:127.0.0.1");
  authority.vouch_for("client", "DNS:client");
  const etcd::EtcdTls tls{.ca_file = authority.ca_file(),
                          .cert_file = authority.cert_file("server"),
                          .key_file = authority.key_file("server"),
                          .clients = etcd::EtcdTls::Clients::with_certificate};
  guarded->cluster = std::make_unique<etcd::EtcdCluster>(
      etcd::EtcdCluster::Shape{.settings = {.tls = tls, .arguments = timing(1)},
                               .ctl_arguments = {"--cacert=" + authority.ca_file(),
                                                 "--cert=" + authority.cert_file("client"),
                                                 "--key=" + authority.key_file("client")}});
  guarded->cluster->enable_auth("root secret", "app", "secret", "hf/");
  return guarded;
}

FreshEngine fresh_guarded_etcd() {
  static const auto guarded = make_guarded_etcd();
  const redis::Authority& authority = guarded->authority;
  return {.url = "etcds://app@" + guarded->cluster->endpoints() + "?" + next_prefix() +
                 "&password_file=" + write_password(guarded->directory) +
                 "&ca=" + authority.ca_file() + "&cert=" + authority.cert_file("client") +
                 "&key=" + authority.key_file("client"),
          .resources = guarded};
}

/// Every TTL the contract asks for, from `ttl_min` on.
zookeeper::ZookeeperSettings session_limits(Millis ttl_min) {
  return {.min_session_timeout = ttl_min, .max_session_timeout = kTtlMax};
}

constexpr Millis kZookeeperTtl{2000};
/// The ensemble elects a leader meanwhile, and leases outlast that.
constexpr Millis kElectionTtl{10'000};

/// As etcd's clusters.
template <std::size_t kNodes, std::size_t kDown>
FreshEngine fresh_zookeeper() {
  static const auto ensemble = [] {
    auto made = std::make_shared<zookeeper::ZookeeperEnsemble>(zookeeper::ZookeeperEnsemble::Shape{
        .nodes = kNodes, .settings = session_limits(kZookeeperTtl)});
    for (std::size_t i = 0; i < kDown; ++i) made->node(i).kill();
    static_cast<void>(made->wait_for_leader());
    return made;
  }();
  return {.url = "zookeeper://" + ensemble->endpoints() + "?" + next_prefix(),
          .resources = ensemble};
}

/// Whose leader is killed soon after the test has begun.
FreshEngine fresh_headless_zookeeper() {
  static const auto kills = std::make_shared<zookeeper::LeaderKills>(session_limits(kElectionTtl));
  kills->strike();
  return {.url = "zookeeper://" + kills->endpoints() + "?timeout=30s&" + next_prefix(),
          .resources = kills};
}

constexpr Capabilities kEverything{.shared = true,
                                   .permits = true,
                                   .fifo = true,
                                   .detached = true,
                                   .lock_delay = true,
                                   .watch = true,
                                   .store = true};

constexpr Capabilities kRedlock{.shared = false,
                                .permits = false,
                                .fifo = false,
                                .detached = true,
                                .lock_delay = false,
                                .watch = true,
                                .store = false};

/// Whose servers end a session and its locks in one step.
constexpr Capabilities kSessions{.shared = true,
                                 .permits = true,
                                 .fifo = true,
                                 .detached = true,
                                 .lock_delay = false,
                                 .watch = true,
                                 .store = true};

/// Locks that belong to a session of the server's.
constexpr Capabilities kAdvisory{.shared = true,
                                 .permits = false,
                                 .fifo = true,
                                 .detached = false,
                                 .lock_delay = false,
                                 .watch = true,
                                 .store = true};

EngineUnderTest etcd_cluster(std::string name, FreshEngine (*fresh)(), std::chrono::seconds ttl) {
  return {.name = std::move(name),
          .fresh = fresh,
          .can = kSessions,
          .ttl_of_the_dying = ttl,
          .ttl_min = ttl};
}

EngineUnderTest zookeeper_ensemble(std::string name, FreshEngine (*fresh)(), Millis ttl) {
  return {.name = std::move(name),
          .fresh = fresh,
          .can = kSessions,
          .ttl_of_the_dying = ttl,
          .ttl_min = ttl,
          .value_bytes_max = 1'000'000};
}

EngineUnderTest postgres(std::string name, FreshEngine (*fresh)(), Capabilities can) {
  return {.name = std::move(name), .fresh = fresh, .can = can, .ttl_of_the_dying = Millis{500}};
}

EngineUnderTest redlock(std::string name, std::size_t nodes, const Trouble& trouble) {
  return {.name = std::move(name),
          .fresh = [nodes, trouble] { return fresh_redlock(nodes, trouble); },
          .can = kRedlock,
          .ttl_of_the_dying = Millis{500}};
}

}  // namespace

std::vector<EngineUnderTest> engines_under_test() {
  return {
      {.name = "local", .fresh = [] { return fresh_local(""); }, .can = kEverything},
      {.name = "local_prefix",
       .fresh = [] { return fresh_local("?prefix=team%20a/"); },
       .can = kEverything},
      {.name = "redis",
       .fresh = [] { return fresh_redis(""); },
       .can = kEverything,
       .ttl_of_the_dying = Millis{500}},
      {.name = "redis_prefix",
       .fresh = [] { return fresh_redis("?prefix=team%20{a}*/"); },
       .can = kEverything,
       .ttl_of_the_dying = Millis{500}},
      {.name = "redis_tls_acl",
       .fresh = [] { return fresh_guarded_redis(); },
       .can = kEverything,
       .ttl_of_the_dying = Millis{500}},
      {.name = "redis_cluster",
       .fresh = [] { return fresh_cluster(); },
       .can = kEverything,
       .ttl_of_the_dying = Millis{500}},
      etcd_cluster("etcd", fresh_etcd<1, 0>, std::chrono::seconds{1}),
      etcd_cluster("etcd_3", fresh_etcd<3, 0>, std::chrono::seconds{2}),
      etcd_cluster("etcd_3_one_down", fresh_etcd<3, 1>, std::chrono::seconds{2}),
      etcd_cluster("etcd_tls_auth", fresh_guarded_etcd, std::chrono::seconds{1}),
      zookeeper_ensemble("zookeeper", fresh_zookeeper<1, 0>, kZookeeperTtl),
      zookeeper_ensemble("zookeeper_3", fresh_zookeeper<3, 0>, kZookeeperTtl),
      zookeeper_ensemble("zookeeper_3_one_down", fresh_zookeeper<3, 1>, kZookeeperTtl),
      zookeeper_ensemble("zookeeper_3_leader_killed", fresh_headless_zookeeper, kElectionTtl),
      postgres(
          "postgres", [] { return fresh_postgres("lease", next_prefix()); }, kEverything),
      postgres(
          "postgres_pgbouncer", [] { return fresh_pooled_postgres(next_prefix()); }, kEverything),
      postgres(
          "postgres_tls_role",
          [] { return fresh_guarded_postgres("lease", next_prefix()); },
          kEverything),
      postgres(
          "postgres_advisory", [] { return fresh_postgres("advisory", next_prefix()); }, kAdvisory),
      postgres(
          "postgres_advisory_tls_role",
          [] { return fresh_guarded_postgres("advisory", next_prefix()); },
          kAdvisory),
      redlock("redlock_3", 3, {}),
      redlock("redlock_3_one_down", 3, {.down = 1}),
      redlock("redlock_5", 5, {}),
      redlock("redlock_5_one_down", 5, {.down = 1}),
      redlock("redlock_5_two_down", 5, {.down = 2}),
      redlock("redlock_3_one_hung", 3, {.hung = 1}),
      redlock("redlock_3_one_raving", 3, {.raving = 1}),
  };
}

std::vector<EngineUnderTest> campaign_engines() {
  return {{.name = "local", .fresh = [] { return fresh_local("?sync=off"); }, .can = kEverything}};
}

}  // namespace holdfast::contract
