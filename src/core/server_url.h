// The address of URLs that name several servers:
// `[user[:password]@]host[:port][,host[:port]…][/…]`.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"

namespace holdfast::core {

/// Host and port of a server.
struct Endpoint {
  std::string host{"127.0.0.1"};
  std::uint16_t port{0};

  /// How messages name it: `host:port`, an IPv6 address in brackets.
  std::string text() const {
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
  }

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Whether it is on this machine, by what is written: over the loopback network nobody else
/// listens in.
bool is_here(const Endpoint& endpoint);

/// How an engine's URLs speak.
struct UrlWords {
  /// As messages name it, such as "etcd".
  std::string_view engine;
  /// What to write instead of a URL that is not understood.
  std::string_view form;
  /// For a user without a password, such as "etcd://user@host".
  std::string_view with_user;
  std::uint16_t port;
  /// Of the environment, where a password may be.
  const char* password_variable;
};

struct ServerAddress {
  /// Not empty.
  std::vector<Endpoint> endpoints{};
  std::string user{};
  std::string password{};
  /// What stands after the first slash, as it stands there.
  std::string path{};
};

/// What stands between the scheme and the parameters. invalid_argument: it is wrong, and the
/// message says where, without quoting what may hold credentials.
Result<ServerAddress> read_server_address(const UrlWords& words, std::string_view text);

/// The password of `address`, which may be in the URL, in a file, if one is named, or in the
/// environment. invalid_argument: there is none for a user, or no user for one. io_error: the file
/// cannot be read.
Result<std::string> find_password(const UrlWords& words,
                                  const ServerAddress& address,
                                  const std::string& password_file);

}  // namespace holdfast::core
