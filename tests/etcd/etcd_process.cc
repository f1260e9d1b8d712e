#include "tests/etcd/etcd_process.h"

#include <signal.h>

#include "tests/servers/loopback.h"

namespace holdfast::etcd {
namespace {

/// The whole answer to a GET; empty when there is none within a second.
std::string http_get(std::uint16_t port, const std::string& path) {
  return servers::ask(port, "GET " + path + " HTTP/1.0\r\n\r\n");
}

std::string url(const std::string& scheme, std::uint16_t port) {
  return scheme + "://127.0.0.1:" + std::to_string(port);
}

std::vector<std::string> arguments_for(const EtcdTls& tls) {
  if (tls.cert_file.empty()) return {};
  std::vector<std::string> arguments{"--cert-file", tls.cert_file, "--key-file", tls.key_file};
  if (tls.clients == EtcdTls::Clients::with_certificate) {
    arguments.insert(arguments.end(), {"--trusted-ca-file", tls.ca_file, "--client-cert-auth"});
  }
  return arguments;
}

}  // namespace

EtcdProcess::EtcdProcess(std::string name,
                         const EtcdPorts& ports,
                         const std::string& members,
                         const EtcdSettings& settings)
    : name_{std::move(name)},
      ports_{ports},
      endpoint_{"127.0.0.1:" + std::to_string(ports.clients)},
      process_{"etcd"} {
  const std::string scheme = settings.tls.cert_file.empty() ? "http" : "https";
  const std::string clients = url(scheme, ports.clients);
  const std::string peers = url("http", ports.peers);
  std::vector<std::string> command{HOLDFAST_ETCD_SERVER, "--name", name_};
  command.insert(command.end(), {"--data-dir", directory() / "data"});
  command.insert(command.end(), {"--listen-client-urls", clients});
  command.insert(command.end(), {"--advertise-client-urls", clients});
  command.insert(command.end(), {"--listen-peer-urls", peers});
  command.insert(command.end(), {"--initial-advertise-peer-urls", peers});
  command.insert(command.end(), {"--listen-metrics-urls", url("http", ports.metrics)});
  command.insert(command.end(), {"--initial-cluster", members, "--logger", "zap"});
  for (const auto& more : {arguments_for(settings.tls), settings.arguments}) {
    command.insert(command.end(), more.begin(), more.end());
  }
  process_.set_command(std::move(command));
}

void EtcdProcess::wait_until_healthy() {
  process_.wait_until([this] { return is_healthy(); });
}

void EtcdProcess::restart() {
  kill();
  start();
  wait_until_healthy();
}

void EtcdProcess::kill() { process_.end(SIGKILL); }

void EtcdProcess::stop() { process_.end(SIGTERM); }

bool EtcdProcess::is_healthy() const {
  if (!is_running() || process_.is_paused()) return false;
  return http_get(ports_.metrics, "/health").find(R"("health":"true")") != std::string::npos;
}

std::string EtcdProcess::metric(const std::string& name) const {
  if (!is_running() || process_.is_paused()) return {};
  const std::string page = http_get(ports_.metrics, "/metrics");
  const std::string line = "\n" + name + " ";
  const std::size_t at = page.find(line);
  if (at == std::string::npos) return {};
  const std::size_t from = at + line.size();
  return page.substr(from, page.find('\n', from) - from);
}

}  // namespace holdfast::etcd
