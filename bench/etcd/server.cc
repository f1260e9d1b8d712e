#include "bench/etcd/server.h"

#include <cstdlib>
#include <sstream>
#include <vector>

#include "bench/plain_request.h"

namespace holdfast::bench {
namespace {

std::string url_of(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

std::string http_get(std::uint16_t port, const std::string& path) {
  return plain_request(port, "GET " + path + " HTTP/1.0\r\n\r\n");
}

}  // namespace

Result<std::unique_ptr<EtcdServer>> EtcdServer::start() {
  std::unique_ptr<EtcdServer> server{new EtcdServer};
  server->port_ = free_port();
  server->metrics_port_ = free_port();
  const std::string clients = url_of(server->port_);
  const std::string peers = url_of(free_port());
  std::vector<std::string> words{"etcd", "--name", "bench", "--logger", "zap"};
  words.insert(words.end(), {"--data-dir", server->directory_.path() + "/data"});
  words.insert(words.end(), {"--listen-client-urls", clients});
  words.insert(words.end(), {"--advertise-client-urls", clients});
  words.insert(words.end(), {"--listen-peer-urls", peers});
  words.insert(words.end(), {"--initial-advertise-peer-urls", peers});
  words.insert(words.end(), {"--initial-cluster", "bench=" + peers});
  words.insert(words.end(), {"--listen-metrics-urls", url_of(server->metrics_port_)});
  const auto is_well = [&] {
    const std::string health = http_get(server->metrics_port_, "/health");
    return health.find(R"("health":"true")") != std::string::npos;
  };
  const auto started = server->process_.start(
      std::move(words), is_well, "install etcd, for example: apt-get install etcd-server");
  if (!started) return Unexpected{started.error()};
  return server;
}

EtcdLoad EtcdServer::load() const {
  std::istringstream page{http_get(metrics_port_, "/metrics")};
  EtcdLoad load;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("grpc_server_msg_received_total{")) continue;
    const bool keeps_alive = line.find(R"(grpc_method="LeaseKeepAlive")") != std::string::npos;
    const double count = std::strtod(&line[line.rfind(' ') + 1], nullptr);
    (keeps_alive ? load.keep_alives : load.others) += count;
  }
  return load;
}

}  // namespace holdfast::bench
