#include "tests/servers/fault_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/assert.h"

namespace holdfast::servers {
namespace {

int listen_on_loopback(std::uint16_t& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  HOLDFAST_ASSERT(bind(listener, any, size) == 0);
  HOLDFAST_ASSERT(listen(listener, 64) == 0);
  HOLDFAST_ASSERT(getsockname(listener, any, &size) == 0);
  port = ntohs(address.sin_port);
  return listener;
}

int connect_to(std::uint16_t port) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int at_once = 1;
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return server;
  close(server);
  return -1;
}

int connect_to(const std::string& path) {
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  HOLDFAST_ASSERT(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return server;
  close(server);
  return -1;
}

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// What there is to read; empty at the end.
std::string receive(int from) {
  std::string bytes(65536, '\0');
  const ssize_t size = recv(from, bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

}  // namespace

FaultProxy::FaultProxy(std::string server_socket, std::uint16_t server_port)
    : server_socket_{std::move(server_socket)},
      server_port_{server_port},
      listener_{listen_on_loopback(port_)},
      orders_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  thread_ = std::thread{[this] { run(); }};
}

FaultProxy::~FaultProxy() {
  ending_ = true;
  eventfd_write(orders_, 1);
  thread_.join();
  for (const Pair& pair : pairs_) close_pair(pair);
  close(listener_);
  close(orders_);
}

void FaultProxy::set(Fault fault) {
  fault_ = fault;
  eventfd_write(orders_, 1);
}

void FaultProxy::heal() {
  cut_ = true;
  set(Fault::none);
}

void FaultProxy::run() {
  while (!ending_) step();
}

void FaultProxy::step() {
  std::vector<pollfd> ready{{.fd = orders_, .events = POLLIN, .revents = 0},
                            {.fd = listener_, .events = POLLIN, .revents = 0}};
  for (const Pair& pair : pairs_) {
    ready.push_back({.fd = pair.client, .events = POLLIN, .revents = 0});
    ready.push_back({.fd = pair.server, .events = POLLIN, .revents = 0});
  }
  poll(ready.data(), ready.size(), /*timeout_ms=*/-1);
  eventfd_t ignored;
  eventfd_read(orders_, &ignored);
  const bool cut = cut_.exchange(false);
  const Fault fault = fault_;

  std::vector<Pair> alive;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    Pair& pair = pairs_[i];
    bool stays = !cut && fault != Fault::refuse;
    if (stays && ready[2 * i + 2].revents != 0) stays = pass_request(pair);
    if (stays && ready[2 * i + 3].revents != 0) stays = take_reply(pair);
    if (stays && fault == Fault::none) {
      stays = send_all(pair.client, std::exchange(pair.kept, {}));
    }
    if (stays) {
      alive.push_back(std::move(pair));
    } else {
      close_pair(pair);
    }
  }
  pairs_ = std::move(alive);
  open_connections_ = static_cast<int>(pairs_.size());
  if (ready[1].revents != 0) accept_one(fault);
}

void FaultProxy::accept_one(Fault fault) {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int at_once = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  int server = -1;
  if (fault != Fault::refuse) {
    server = server_socket_.empty() ? connect_to(server_port_) : connect_to(server_socket_);
  }
  ++connections_;
  if (server < 0) {
    close(client);
    return;
  }
  pairs_.push_back({.client = client, .server = server, .kept = {}});
  open_connections_ = static_cast<int>(pairs_.size());
}

bool FaultProxy::pass_request(Pair& pair) {
  const std::string bytes = receive(pair.client);
  return !bytes.empty() && send_all(pair.server, bytes);
}

bool FaultProxy::take_reply(Pair& pair) {
  const std::string bytes = receive(pair.server);
  pair.kept += bytes;
  return !bytes.empty();
}

void FaultProxy::close_pair(const Pair& pair) {
  close(pair.client);
  close(pair.server);
}

}  // namespace holdfast::servers
