// RedisTarget: which Redis server to talk to, and as whom.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "holdfast/clock.h"

namespace holdfast::redis {

/// How to encrypt, and whom to trust. Files are PEM.
struct TlsSettings {
  /// Whose signature makes a server's certificate good. Empty: the system's authorities.
  std::string ca_file{};
  /// What this client shows to a server that asks. Both or neither.
  std::string cert_file{};
  std::string key_file{};
  /// The name or address the server's certificate must bear. Empty: the target's host.
  std::string server_name{};
};

/// Host and port of a server.
struct Address {
  std::string host;
  std::uint16_t port{0};

  friend auto operator<=>(const Address&, const Address&) = default;
};

struct RedisTarget {
  std::string host{"127.0.0.1"};
  std::uint16_t port{6379};
  /// Not empty: a Unix socket, and host and port are not looked at.
  std::string socket_path{};
  /// Empty: the server's default user.
  std::string user{};
  /// Without user and password there is no authentication.
  std::string password{};
  std::uint32_t database{0};
  /// Empty: not encrypted.
  std::optional<TlsSettings> tls{};
  /// From looking up the host until the server has accepted the credentials.
  Duration connect_timeout{std::chrono::seconds{5}};

  Address address() const { return {host, port}; }

  /// How messages name the server: `host:port` or the path of the socket. No credentials.
  std::string node() const {
    if (!socket_path.empty()) return socket_path;
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
  }
};

}  // namespace holdfast::redis
