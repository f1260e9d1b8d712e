#include "tests/servers/loopback.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>

#include "base/secret.h"

namespace holdfast::servers {
namespace {

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

std::string ask(std::uint16_t port, const std::string& request) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval second{.tv_sec = 1, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
  const sockaddr_in address = loopback(port);
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

}  // namespace holdfast::servers
