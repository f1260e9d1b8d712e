#include "bench/plain_request.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

namespace holdfast::bench {

std::string plain_request(std::uint16_t port, const std::string& request) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string answer;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(connection, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    std::array<char, 4096> bytes{};
    for (ssize_t got = 0; (got = recv(connection, bytes.data(), bytes.size(), 0)) > 0;) {
      answer.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  close(connection);
  return answer;
}

}  // namespace holdfast::bench
