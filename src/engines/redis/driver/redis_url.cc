#include "engines/redis/driver/redis_url.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/invalid.h"
#include "base/url_timeout.h"
#include "core/url_text.h"

namespace holdfast::redis {
namespace {

constexpr std::string_view kForm = "write redis://[user[:password]@]host[:port][/database]";

enum class Way : std::uint8_t { plain, tls, unix_socket };

struct Scheme {
  std::string_view text;
  RedisUrl::Kind kind;
  Way way;
};
constexpr std::array kSchemes{Scheme{"redis://", RedisUrl::Kind::server, Way::plain},
                              Scheme{"rediss://", RedisUrl::Kind::server, Way::tls},
                              Scheme{"redis+unix://", RedisUrl::Kind::server, Way::unix_socket},
                              Scheme{"redis+cluster://", RedisUrl::Kind::cluster, Way::plain},
                              Scheme{"rediss+cluster://", RedisUrl::Kind::cluster, Way::tls},
                              Scheme{"redis+sentinel://", RedisUrl::Kind::sentinel, Way::plain},
                              Scheme{"rediss+sentinel://", RedisUrl::Kind::sentinel, Way::tls}};

constexpr std::uint16_t kSentinelPort = 26379;

/// A URL on its way to becoming a RedisUrl.
struct Draft {
  RedisUrl url{};
  Way way{Way::plain};
};

Unexpected<Error> malformed(const std::string& what) { return invalid(what, std::string{kForm}); }

std::optional<Scheme> scheme_of(std::string_view url) {
  for (const Scheme& scheme : kSchemes) {
    if (core::has_scheme(url, scheme.text)) return scheme;
  }
  return std::nullopt;
}

Result<void> apply_credentials(RedisTarget& target, std::string_view text) {
  const auto user = core::decode_url_text(core::cut(text, ':'));
  const auto password = core::decode_url_text(text);
  if (!user || !password) {
    return invalid("the credentials of the Redis URL have a bad % sequence",
                   "write a literal % as %25");
  }
  target.user = *user;
  target.password = *password;
  return {};
}

/// `host[:port]`.
Result<Address> read_address(std::string_view text, std::uint16_t default_port) {
  std::optional<std::string> host;
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    if (text.find(']') == std::string_view::npos) {
      return malformed("the Redis URL has a bracket that is not closed");
    }
    host = std::string{core::cut(text, ']')};
    if (!text.empty() && !text.starts_with(':')) {
      return malformed("the Redis URL has something after the bracket that is not a port");
    }
    if (!text.empty()) text.remove_prefix(1);
  } else {
    host = core::decode_url_text(core::cut(text, ':'));
  }
  if (!host || host->empty()) return malformed("the Redis URL names no host");
  if (text.empty()) return Address{*host, default_port};
  const auto port = parse_decimal<std::uint16_t>(text);
  if (!port || *port == 0) return malformed("the port of the Redis URL is not 1 to 65535");
  return Address{*host, *port};
}

Result<void> apply_database(RedisTarget& target, std::string_view text) {
  if (text.empty()) return {};
  const auto database = parse_decimal<std::uint32_t>(text);
  if (!database) return malformed("the database of the Redis URL is not a number");
  target.database = *database;
  return {};
}

/// Several hosts, and what comes after them.
Result<void> apply_nodes(Draft& draft, std::string_view hosts, std::string_view rest) {
  const bool is_cluster = draft.url.kind == RedisUrl::Kind::cluster;
  do {
    const auto node =
        read_address(core::cut(hosts, ','), is_cluster ? draft.url.target.port : kSentinelPort);
    if (!node) return Unexpected{node.error()};
    draft.url.nodes.push_back(*node);
  } while (!hosts.empty());
  if (is_cluster) {
    if (rest.empty() || rest == "0") return {};
    return invalid("a Redis cluster has one database alone", "write nothing after the hosts");
  }
  const auto name = core::decode_url_text(rest);
  if (!name || name->empty() || name->find('/') != std::string::npos) {
    return invalid("the Redis URL names no master for the sentinels",
                   "write redis+sentinel://host:port,host:port/NAME");
  }
  draft.url.master_name = *name;
  return {};
}

/// Everything between the scheme and the parameters.
Result<void> apply_address(Draft& draft, std::string_view text) {
  RedisTarget& target = draft.url.target;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::size_t at = text.substr(0, slash).rfind('@');
  if (at != std::string_view::npos) {
    if (auto applied = apply_credentials(target, text.substr(0, at)); !applied) return applied;
    text.remove_prefix(at + 1);
  }
  if (draft.way == Way::unix_socket) {
    const auto path = core::decode_url_text(text);
    if (!path || !path->starts_with('/')) {
      return invalid("the redis+unix: URL names no absolute path",
                     "write redis+unix:///path/of/the.socket");
    }
    target.socket_path = *path;
    return {};
  }
  const std::string_view hosts = core::cut(text, '/');
  if (draft.url.kind != RedisUrl::Kind::server) return apply_nodes(draft, hosts, text);
  const auto address = read_address(hosts, target.port);
  if (!address) return Unexpected{address.error()};
  target.host = address->host;
  target.port = address->port;
  return apply_database(target, text);
}

Result<void> apply_timeout(Draft& draft, const std::string& value) {
  const auto timeout = parse_url_timeout(value);
  if (!timeout) return Unexpected{timeout.error()};
  draft.url.timeout = *timeout;
  draft.url.target.connect_timeout = *timeout;
  return {};
}

Result<void> apply_prefix(Draft& draft, const std::string& value) {
  if (auto good = core::check_prefix(value); !good) return good;
  draft.url.prefix = value;
  return {};
}

template <std::string TlsSettings::*kMember>
Result<void> apply_tls(Draft& draft, const std::string& value) {
  if (draft.way != Way::tls) {
    return invalid("the Redis URL has a parameter of TLS, which it does not use",
                   "write rediss:// to use TLS");
  }
  (*draft.url.target.tls).*kMember = value;
  return {};
}

Result<void> apply_socket_database(Draft& draft, const std::string& value) {
  if (draft.way != Way::unix_socket && draft.url.kind != RedisUrl::Kind::sentinel) {
    return invalid("the parameter db belongs to redis+unix: and redis+sentinel:",
                   "write the database after the host");
  }
  return apply_database(draft.url.target, value);
}

template <std::string RedisUrl::*kMember>
Result<void> apply_text(Draft& draft, const std::string& value) {
  draft.url.*kMember = value;
  return {};
}

struct Parameter {
  std::string_view key;
  Result<void> (*apply)(Draft&, const std::string&);
};
constexpr std::array<Parameter, 10> kParameters{
    {{"prefix", &apply_prefix},
     {"timeout", &apply_timeout},
     {"password_file", &apply_text<&RedisUrl::password_file>},
     {"sentinel_user", &apply_text<&RedisUrl::sentinel_user>},
     {"sentinel_password_file", &apply_text<&RedisUrl::sentinel_password_file>},
     {"db", &apply_socket_database},
     {"ca", &apply_tls<&TlsSettings::ca_file>},
     {"cert", &apply_tls<&TlsSettings::cert_file>},
     {"key", &apply_tls<&TlsSettings::key_file>},
     {"servername", &apply_tls<&TlsSettings::server_name>}}};

Result<void> apply_parameter(Draft& draft, std::string_view text) {
  const bool has_value = text.find('=') != std::string_view::npos;
  const std::string key{core::cut(text, '=')};
  const auto known = std::ranges::find(kParameters, key, &Parameter::key);
  if (known == kParameters.end()) {
    return invalid("Redis URLs have no parameter '" + key + "'",
                   "the parameters are prefix, timeout, password_file, db, sentinel_user, "
                   "sentinel_password_file, ca, cert, key and servername");
  }
  const auto value = core::parameter_value(key, has_value ? std::optional{text} : std::nullopt);
  if (!value) return Unexpected{value.error()};
  return known->apply(draft, *value);
}

Result<void> find_password(Draft& draft) {
  std::string& password = draft.url.target.password;
  if (draft.url.password_file.empty()) {
    const char* const given = std::getenv("HOLDFAST_REDIS_PASSWORD");
    if (password.empty() && given != nullptr) password = given;
    return {};
  }
  if (!password.empty()) {
    return invalid("the Redis URL has both a password and a password_file", "drop one of them");
  }
  auto read = core::read_password_file(draft.url.password_file);
  if (!read) return Unexpected{std::move(read).error()};
  password = *std::move(read);
  return {};
}

Result<void> find_sentinel_password(Draft& draft) {
  const bool given = !draft.url.sentinel_password_file.empty() || !draft.url.sentinel_user.empty();
  if (given && draft.url.kind != RedisUrl::Kind::sentinel) {
    return invalid("the Redis URL has parameters for sentinels, and names none",
                   "write redis+sentinel://host:port/NAME");
  }
  if (draft.url.sentinel_password_file.empty()) return {};
  auto read = core::read_password_file(draft.url.sentinel_password_file);
  if (!read) return Unexpected{std::move(read).error()};
  draft.url.sentinel_password = *std::move(read);
  return {};
}

Result<void> check_whole(const Draft& draft) {
  const auto& tls = draft.url.target.tls;
  if (tls && tls->cert_file.empty() != tls->key_file.empty()) {
    return invalid("the Redis URL has only one of cert and key", "give both");
  }
  const bool has_braces = draft.url.prefix.find_first_of("{}") != std::string::npos;
  if (draft.url.kind == RedisUrl::Kind::cluster && has_braces) {
    return invalid("the prefix has braces, which decide where a Redis cluster keeps a key",
                   "use a prefix without { and }");
  }
  return {};
}

}  // namespace

Result<RedisUrl> parse_redis_url(std::string_view url) {
  const auto scheme = scheme_of(url);
  if (!scheme) {
    return malformed(
        "the URL does not begin with redis://, rediss://, redis+unix://, redis+cluster:// or "
        "redis+sentinel://");
  }
  url.remove_prefix(scheme->text.size());
  Draft draft{.way = scheme->way};
  draft.url.kind = scheme->kind;
  if (scheme->way == Way::tls) draft.url.target.tls.emplace();
  if (auto applied = apply_address(draft, core::cut(url, '?')); !applied) {
    return Unexpected{std::move(applied).error()};
  }
  while (!url.empty()) {
    if (auto applied = apply_parameter(draft, core::cut(url, '&')); !applied) {
      return Unexpected{std::move(applied).error()};
    }
  }
  for (auto step : {find_password(draft), find_sentinel_password(draft), check_whole(draft)}) {
    if (!step) return Unexpected{std::move(step).error()};
  }
  return std::move(draft.url);
}

}  // namespace holdfast::redis
