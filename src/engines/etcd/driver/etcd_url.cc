#include "engines/etcd/driver/etcd_url.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/invalid.h"
#include "base/url_timeout.h"
#include "core/server_url.h"
#include "core/url_text.h"

namespace holdfast::etcd {
namespace {

constexpr core::UrlWords kWords{
    .engine = "etcd",
    .form = "write etcd://[user[:password]@]host[:port][,host[:port]...], or etcds:// for TLS",
    .with_user = "etcd://user@host",
    .port = 2379,
    .password_variable = "HOLDFAST_ETCD_PASSWORD"};

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

/// What stood before the parameters is known, and they are.
Result<void> apply_address(EtcdUrl& url, core::ServerAddress address) {
  if (!address.path.empty()) {
    return invalid("the etcd URL has something after the hosts",
                   "write what lock names begin with as prefix=");
  }
  auto password = core::find_password(kWords, address, url.password_file);
  if (!password) return Unexpected{std::move(password).error()};
  url.target.endpoints = std::move(address.endpoints);
  url.target.user = std::move(address.user);
  url.target.password = *std::move(password);
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
    return invalid("the URL does not begin with etcd:// or etcds://", std::string{kWords.form});
  }
  text.remove_prefix(text.find("://") + 3);
  EtcdUrl url;
  if (is_tls) url.target.tls.emplace();
  auto address = core::read_server_address(kWords, core::cut(text, '?'));
  if (!address) return Unexpected{std::move(address).error()};
  while (!text.empty()) {
    if (auto applied = apply_parameter(url, core::cut(text, '&')); !applied) {
      return Unexpected{std::move(applied).error()};
    }
  }
  if (auto applied = apply_address(url, *std::move(address)); !applied) {
    return Unexpected{std::move(applied).error()};
  }
  if (auto checked = check_whole(url); !checked) return Unexpected{std::move(checked).error()};
  return url;
}

}  // namespace holdfast::etcd
