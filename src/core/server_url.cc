#include "core/server_url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/decimal.h"
#include "base/invalid.h"
#include "core/url_text.h"

namespace holdfast::core {
namespace {

std::string the_url(const UrlWords& words) { return "the " + std::string{words.engine} + " URL"; }

Unexpected<Error> malformed(const UrlWords& words, const std::string& what) {
  return invalid(the_url(words) + what, std::string{words.form});
}

Result<void> read_credentials(const UrlWords& words,
                              std::string_view text,
                              ServerAddress& address) {
  const auto user = decode_url_text(cut(text, ':'));
  const auto password = decode_url_text(text);
  if (!user || !password) {
    return invalid("the credentials of " + the_url(words) + " have a bad % sequence",
                   "write a literal % as %25");
  }
  if (user->empty()) return malformed(words, " has a password and no user");
  address.user = *user;
  address.password = *password;
  return {};
}

/// What is left of `text` after a host in brackets.
Result<std::string> cut_bracketed(const UrlWords& words, std::string_view& text) {
  text.remove_prefix(1);
  if (text.find(']') == std::string_view::npos) {
    return malformed(words, " has a bracket that is not closed");
  }
  std::string host{cut(text, ']')};
  if (!text.empty() && !text.starts_with(':')) {
    return malformed(words, " has something after the bracket that is not a port");
  }
  if (!text.empty()) text.remove_prefix(1);
  return host;
}

/// `host[:port]`.
Result<Endpoint> read_endpoint(const UrlWords& words, std::string_view text) {
  Endpoint endpoint{.port = words.port};
  if (text.starts_with('[')) {
    auto host = cut_bracketed(words, text);
    if (!host) return Unexpected{std::move(host).error()};
    endpoint.host = *std::move(host);
  } else {
    endpoint.host = decode_url_text(cut(text, ':')).value_or("");
  }
  if (endpoint.host.empty()) return malformed(words, " names no host, or an empty one");
  if (text.empty()) return endpoint;
  const auto port = parse_decimal<std::uint16_t>(text);
  if (!port || *port == 0) {
    return invalid("the port of " + the_url(words) + " is not 1 to 65535", std::string{words.form});
  }
  endpoint.port = *port;
  return endpoint;
}

}  // namespace

bool is_here(const Endpoint& endpoint) {
  if (endpoint.host == "localhost") return true;
  in_addr address{};
  if (inet_pton(AF_INET, endpoint.host.c_str(), &address) == 1) {
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  in6_addr long_address{};
  return inet_pton(AF_INET6, endpoint.host.c_str(), &long_address) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&long_address);
}

Result<ServerAddress> read_server_address(const UrlWords& words, std::string_view text) {
  ServerAddress address;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::size_t at = text.substr(0, slash).rfind('@');
  if (at != std::string_view::npos) {
    if (auto read = read_credentials(words, text.substr(0, at), address); !read) {
      return Unexpected{std::move(read).error()};
    }
    text.remove_prefix(at + 1);
  }
  std::string_view hosts = cut(text, '/');
  address.path = text;
  for (bool more = true; more;) {
    more = hosts.find(',') != std::string_view::npos;
    auto endpoint = read_endpoint(words, cut(hosts, ','));
    if (!endpoint) return Unexpected{std::move(endpoint).error()};
    address.endpoints.push_back(*std::move(endpoint));
  }
  return address;
}

Result<std::string> find_password(const UrlWords& words,
                                  const ServerAddress& address,
                                  const std::string& password_file) {
  if (!password_file.empty()) {
    if (address.user.empty()) {
      return invalid(the_url(words) + " has a password_file and no user",
                     "write " + std::string{words.with_user});
    }
    if (!address.password.empty()) {
      return invalid(the_url(words) + " has both a password and a password_file",
                     "drop one of them");
    }
    return read_password_file(password_file);
  }
  if (address.user.empty() || !address.password.empty()) return address.password;
  const char* const given = std::getenv(words.password_variable);
  if (given != nullptr && *given != '\0') return std::string{given};
  return invalid(
      the_url(words) + " names a user and there is no password",
      std::string{"give it in the URL, by password_file= or in "} + words.password_variable);
}

}  // namespace holdfast::core
