#include "tests/redis/fake_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace holdfast::redis {
namespace {

/// Whether there is something to read at `fd`, rather than an end.
bool wait_for(int fd, int end) {
  std::array<pollfd, 2> ready{
      {{.fd = fd, .events = POLLIN, .revents = 0}, {.fd = end, .events = POLLIN, .revents = 0}}};
  poll(ready.data(), ready.size(), /*timeout_ms=*/-1);
  return ready[1].revents == 0;
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

FakeServer::FakeServer(std::string greeting, std::string answer)
    : greeting_{std::move(greeting)}, answer_{std::move(answer)} {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  end_ = eventfd(0, EFD_CLOEXEC);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  HOLDFAST_ASSERT(bind(listener_, any, size) == 0);
  HOLDFAST_ASSERT(listen(listener_, 16) == 0);
  HOLDFAST_ASSERT(getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

FakeServer::~FakeServer() {
  eventfd_write(end_, 1);
  thread_.join();
  close(listener_);
  close(end_);
}

void FakeServer::serve() {
  while (wait_for(listener_, end_)) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    serve_one(connection);
    close(connection);
  }
}

void FakeServer::serve_one(int connection) {
  std::array<char, 4096> ignored;
  const std::string* next = &greeting_;
  while (wait_for(connection, end_) && recv(connection, ignored.data(), ignored.size(), 0) > 0 &&
         send_all(connection, *next)) {
    next = &answer_;
  }
}

}  // namespace holdfast::redis
