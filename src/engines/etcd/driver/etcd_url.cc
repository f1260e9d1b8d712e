#include "engines/etcd/driver/etcd_url.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/invalid.h"
#include "base/url_timeout.h"
#include "core/url_text.h"

namespace holdfast::etcd {
namespace {

constexpr std::string_view kForm =
    "write etcd://[user[:password]@]host[:port][,host[:port]...], or etcds:// for TLS";

Unexpected<Error> malformed(const std::string& what) { return invalid(what, std::string{kForm}); }

Result<void> apply_credentials(EtcdTarget& target, std::string_view text) {
  const auto user = core::decode_url_text(core::cut(text, ':'));
  const auto password = core::decode_url_text(text);
  if (!user || !password) {
    return invalid("the credentials of the etcd URL have a bad % sequence",
                   "write a literal % as %25");
  }
  if (user->empty()) return malformed("the etcd URL has a password and no user");
  target.user = *user;
  target.password = *password;
  return {};
}

/// What is left of `text` after a host in brackets.
Result<std::string> cut_bracketed(std::string_view& text) {
  text.remove_prefix(1);
  if (text.find(']') == std::string_view::npos) {
    return malformed("the etcd URL has a bracket that is not closed");
  }
  std::string host{core::cut(text, ']')};
  if (!text.empty() && !text.starts_with(':')) {
    return malformed("the etcd URL has something after the bracket that is not a port");
  }
  if (!text.empty()) text.remove_prefix(1);
  return host;
}

/// `host[:port]`.
Result<Endpoint> read_endpoint(std::string_view text) {
  Endpoint endpoint;
  if (text.starts_with('[')) {
    auto host = cut_bracketed(text);
    if (!host) return Unexpected{std::move(host).error()};
    endpoint.host = *std::move(host);
  } else {
    endpoint.host = core::decode_url_text(core::cut(text, ':')).value_or("");
  }
  if (endpoint.host.empty()) return malformed("the etcd URL names no host, or an empty one");
  if (text.empty()) return endpoint;
  const auto port = parse_decimal<std::uint16_t>(text);
  if (!port || *port == 0) return malformed("the port of the etcd URL is not 1 to 65535");
  endpoint.port = *port;
  return endpoint;
}

/// Everything between the scheme and the parameters.
Result<void> apply_address(EtcdTarget& target, std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::size_t at = text.substr(0, slash).rfind('@');
  if (at != std::string_view::npos) {
    if (auto applied = apply_credentials(target, text.substr(0, at)); !applied) return applied;
    text.remove_prefix(at + 1);
  }
  std::string_view hosts = core::cut(text, '/');
  if (!text.empty()) {
    return invalid("the etcd URL has something after the hosts",
                   "write what lock names begin with as prefix=");
  }
  for (bool more = true; more;) {
    more = hosts.find(',') != std::string_view::npos;
    auto endpoint = read_endpoint(core::cut(hosts, ','));
    if (!endpoint) return Unexpected{std::move(endpoint).error()};
    target.endpoints.push_back(*std::move(endpoint));
  }
  return {};
}

Result<void> apply_timeout(EtcdUrl& url, const std::string& value) {
  const auto timeout = parse_url_timeout(value);
  if (!timeout) return Unexpected{timeout.error()};
  url.timeout = *timeout;
  url.target.connect_timeout = *timeout;
  return {};
}

Result<void> apply_prefix(EtcdUrl& url, const std::string& value) {
  if (auto good = core::check_prefix(value); !good) return good;
  url.prefix = value;
  return {};
}

Result<void> apply_password_file(EtcdUrl& url, const std::string& value) {
  url.password_file = value;
  return {};
}

template <std::string TlsSettings::*kMember>
Result<void> apply_tls(EtcdUrl& url, const std::string& value) {
  if (!url.target.tls) {
    return invalid("the etcd URL has a parameter of TLS, which it does not use",
                   "write etcds:// to use TLS");
  }
  (*url.target.tls).*kMember = value;
  return {};
}

struct Parameter {
  std::string_view key;
  Result<void> (*apply)(EtcdUrl&, const std::string&);
};
constexpr std::array<Parameter, 7> kParameters{
    {{"prefix", &apply_prefix},
     {"timeout", &apply_timeout},
     {"password_file", &apply_password_file},
     {"ca", &apply_tls<&TlsSettings::ca_file>},
     {"cert", &apply_tls<&TlsSettings::cert_file>},
     {"key", &apply_tls<&TlsSettings::key_file>},
     {"servername", &apply_tls<&TlsSettings::server_name>}}};

Result<void> apply_parameter(EtcdUrl& url, std::string_view text) {
  const bool has_value = text.find('=') != std::string_view::npos;
  const std::string key{core::cut(text, '=')};
  const auto known = std::ranges::find(kParameters, key, &Parameter::key);
  if (known == kParameters.end()) {
    return invalid("etcd URLs have no parameter '" + key + "'",
                   "the parameters are prefix, timeout, password_file, ca, cert, key and "
                   "servername");
  }
  const auto value = core::parameter_value(key, has_value ? std::optional{text} : std::nullopt);
  if (!value) return Unexpected{value.error()};
  return known->apply(url, *value);
}

Result<void> find_password(EtcdUrl& url) {
  std::string& password = url.target.password;
  if (!url.password_file.empty()) {
    if (url.target.user.empty()) {
      return invalid("the etcd URL has a password_file and no user", "write etcd://user@host");
    }
    if (!password.empty()) {
      return invalid("the etcd URL has both a password and a password_file", "drop one of them");
    }
    auto read = core::read_password_file(url.password_file);
    if (!read) return Unexpected{std::move(read).error()};
    password = *std::move(read);
  }
  const char* const given = std::getenv("HOLDFAST_ETCD_PASSWORD");
  if (!url.target.user.empty() && password.empty() && given != nullptr) password = given;
  if (!url.target.user.empty() && password.empty()) {
    return invalid("the etcd URL names a user and there is no password",
                   "give it in the URL, by password_file= or in HOLDFAST_ETCD_PASSWORD");
  }
  return {};
}

Result<void> check_whole(const EtcdUrl& url) {
  const auto& tls = url.target.tls;
  if (tls && tls->cert_file.empty() != tls->key_file.empty()) {
    return invalid("the etcd URL has only one of cert and key", "give both");
  }
  return {};
}

}  // namespace

bool is_etcd_url(std::string_view url) {
  return core::has_scheme(url, "etcd:") || core::has_scheme(url, "etcds:");
}

Result<EtcdUrl> parse_etcd_url(std::string_view text) {
  const bool is_tls = core::has_scheme(text, "etcds://");
  if (!is_tls && !core::has_scheme(text, "etcd://")) {
    return malformed("the URL does not begin with etcd:// or etcds://");
  }
  text.remove_prefix(text.find("://") + 3);
  EtcdUrl url;
  if (is_tls) url.target.tls.emplace();
  if (auto applied = apply_address(url.target, core::cut(text, '?')); !applied) {
    return Unexpected{std::move(applied).error()};
  }
  while (!text.empty()) {
    if (auto applied = apply_parameter(url, core::cut(text, '&')); !applied) {
      return Unexpected{std::move(applied).error()};
    }
  }
  if (auto found = find_password(url); !found) return Unexpected{std::move(found).error()};
  if (auto checked = check_whole(url); !checked) return Unexpected{std::move(checked).error()};
  return url;
}

}  // namespace holdfast::etcd
