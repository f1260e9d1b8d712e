#include "tests/etcd/etcd_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/assert.h"
#include "base/secret.h"
#include "holdfast/clock.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

/// Far longer than a start takes on a busy machine.
constexpr std::chrono::seconds kBound{60};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

bool is_free(std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool bound =
      bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(listener);
  return bound;
}

// Memory where there is a file system for it: etcd waits for the disk with every change.
std::filesystem::path make_directory() {
  const std::filesystem::path memory = "/dev/shm";
  const bool in_memory = access(memory.c_str(), W_OK) == 0;
  std::string name =
      (in_memory ? memory : std::filesystem::temp_directory_path()) / "holdfast-etcd-XXXXXX";
  HOLDFAST_ASSERT(mkdtemp(name.data()) != nullptr);
  return name;
}

/// The whole answer to a GET; empty when there is none within a second.
std::string http_get(std::uint16_t port, const std::string& path) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval second{.tv_sec = 1, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
  const sockaddr_in address = loopback(port);
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  std::string answer;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(connection, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    char bytes[4096];
    for (ssize_t got = 0; (got = recv(connection, bytes, sizeof bytes, 0)) > 0;) {
      answer.append(bytes, static_cast<std::size_t>(got));
    }
  }
  close(connection);
  return answer;
}

// In the child, between fork and exec.
[[noreturn]] void become_server(const std::filesystem::path& log, std::vector<char*>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  execv(HOLDFAST_ETCD_SERVER, arguments.data());
  _exit(127);
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

std::uint16_t free_port() {
  // Connections draw theirs from 32768 on.
  constexpr std::uint16_t kFirst = 15000;
  constexpr std::uint16_t kCount = 17000;
  for (;;) {
    std::uint16_t chance = 0;
    std::memcpy(&chance, fresh_owner().bytes().data(), sizeof chance);
    const auto port = static_cast<std::uint16_t>(kFirst + chance % kCount);
    if (is_free(port)) return port;
  }
}

EtcdProcess::EtcdProcess(std::string name,
                         const EtcdPorts& ports,
                         const std::string& members,
                         const EtcdSettings& settings)
    : name_{std::move(name)},
      ports_{ports},
      endpoint_{"127.0.0.1:" + std::to_string(ports.clients)},
      directory_{make_directory()} {
  const std::string scheme = settings.tls.cert_file.empty() ? "http" : "https";
  const std::string clients = url(scheme, ports.clients);
  const std::string peers = url("http", ports.peers);
  arguments_ = {"etcd", "--name", name_, "--data-dir", directory_ / "data"};
  arguments_.insert(arguments_.end(), {"--listen-client-urls", clients});
  arguments_.insert(arguments_.end(), {"--advertise-client-urls", clients});
  arguments_.insert(arguments_.end(), {"--listen-peer-urls", peers});
  arguments_.insert(arguments_.end(), {"--initial-advertise-peer-urls", peers});
  arguments_.insert(arguments_.end(), {"--listen-metrics-urls", url("http", ports.metrics)});
  arguments_.insert(arguments_.end(), {"--initial-cluster", members, "--logger", "zap"});
  for (const auto& more : {arguments_for(settings.tls), settings.arguments}) {
    arguments_.insert(arguments_.end(), more.begin(), more.end());
  }
}

EtcdProcess::~EtcdProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void EtcdProcess::start() {
  HOLDFAST_ASSERT(!is_running());
  std::vector<char*> arguments;
  for (std::string& argument : arguments_) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  HOLDFAST_ASSERT(pid_ >= 0);
  if (pid_ == 0) become_server(directory_ / "log", arguments);
}

void EtcdProcess::wait_until_healthy() {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  const TimePoint end = BootClock::now() + kBound;
  bool running = true;
  while (running && !is_healthy()) {
    // Ends early when the server does.
    pollfd death{.fd = process, .events = POLLIN, .revents = 0};
    running = poll(&death, 1, /*timeout_ms=*/10) == 0 && BootClock::now() < end;
  }
  close(process);
  if (running) return;
  std::fprintf(stderr, "etcd did not start: see %s\n", directory_.c_str());
  std::abort();
}

void EtcdProcess::restart() {
  kill();
  start();
  wait_until_healthy();
}

void EtcdProcess::kill() { end(SIGKILL); }

void EtcdProcess::stop() { end(SIGTERM); }

void EtcdProcess::end(int signal) {
  if (!is_running()) return;
  ::kill(pid_, signal);
  if (paused_) resume();
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void EtcdProcess::pause() {
  ::kill(pid_, SIGSTOP);
  // Stopped for certain only when the kernel says so.
  HOLDFAST_ASSERT(waitpid(pid_, nullptr, WUNTRACED) == pid_);
  paused_ = true;
}

void EtcdProcess::resume() {
  ::kill(pid_, SIGCONT);
  paused_ = false;
}

bool EtcdProcess::is_healthy() const {
  if (!is_running() || paused_) return false;
  return http_get(ports_.metrics, "/health").find(R"("health":"true")") != std::string::npos;
}

std::string EtcdProcess::metric(const std::string& name) const {
  if (!is_running() || paused_) return {};
  const std::string page = http_get(ports_.metrics, "/metrics");
  const std::string line = "\n" + name + " ";
  const std::size_t at = page.find(line);
  if (at == std::string::npos) return {};
  const std::size_t from = at + line.size();
  return page.substr(from, page.find('\n', from) - from);
}

}  // namespace holdfast::etcd
