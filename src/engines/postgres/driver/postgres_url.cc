#include "engines/postgres/driver/postgres_url.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/invalid.h"
#include "base/url_timeout.h"
#include "core/url_text.h"

namespace holdfast::postgres {
namespace {

Result<void> apply_mode(PostgresUrl& url, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, Mode>, 4> kModes{
      {{"lease", Mode::lease},
       {"advisory", Mode::advisory},
       {"advisory_xact", Mode::advisory_xact},
       {"row", Mode::row}}};
  for (const auto& [name, mode] : kModes) {
    if (value != name) continue;
    url.mode = mode;
    return {};
  }
  return invalid("the PostgreSQL URL has a mode that nobody knows",
                 "the modes are lease, advisory, advisory_xact and row");
}

Result<void> apply_prefix(PostgresUrl& url, const std::string& value) {
  url.prefix = value;
  return core::check_prefix(value);
}

Result<void> apply_timeout(PostgresUrl& url, const std::string& value) {
  const auto timeout = parse_url_timeout(value);
  if (!timeout) return Unexpected{timeout.error()};
  url.timeout = *timeout;
  return {};
}

Result<void> apply_listen(PostgresUrl& url, const std::string& value) {
  auto parameters = read_conninfo(value);
  if (!parameters) {
    return invalid("the parameter listen of the PostgreSQL URL is no address of a server",
                   "write listen=postgres://host:port, or listen=host%3D…%20port%3D…");
  }
  url.target.direct = *std::move(parameters);
  return {};
}

Result<void> apply_pooler(PostgresUrl& url, const std::string& value) {
  if (value != "session") {
    return invalid("the parameter pooler of the PostgreSQL URL is not session",
                   "drop it: a pooler that gives a backend to every transaction is noticed");
  }
  url.target.pooling = Pooling::session;
  return {};
}

struct Parameter {
  std::string_view key;
  Result<void> (*apply)(PostgresUrl&, const std::string&);
};
constexpr std::array<Parameter, 5> kParameters{{{"mode", &apply_mode},
                                                {"prefix", &apply_prefix},
                                                {"timeout", &apply_timeout},
                                                {"listen", &apply_listen},
                                                {"pooler", &apply_pooler}}};

/// Applies a parameter of ours, or adds it to those for libpq.
Result<void> take_parameter(PostgresUrl& url, std::string_view text, std::string& for_libpq) {
  const std::string_view whole = text;
  const bool has_value = text.find('=') != std::string_view::npos;
  const std::string key{core::cut(text, '=')};
  const auto ours = std::ranges::find(kParameters, key, &Parameter::key);
  // JDBC's way to ask for TLS, which libpq knows as well.
  if (ours == kParameters.end() && key != "ssl" && !is_parameter(key)) {
    return invalid("PostgreSQL URLs have no parameter '" + key + "'",
                   "the parameters are mode, prefix, timeout, listen, pooler and those of libpq");
  }
  const auto value = core::parameter_value(key, has_value ? std::optional{text} : std::nullopt);
  if (!value) return Unexpected{value.error()};
  if (ours != kParameters.end()) return ours->apply(url, *value);
  for_libpq += (for_libpq.empty() ? '?' : '&') + std::string{whole};
  return {};
}

/// What a conninfo of the server itself leaves open is as it is for the pooler.
void complete_direct(PostgresTarget& target) {
  if (!target.direct) return;
  for (const auto& [keyword, value] : target.parameters) {
    if (keyword == "host" || keyword == "hostaddr" || keyword == "port") continue;
    target.direct->try_emplace(keyword, value);
  }
}

Result<void> check_servers(const Parameters& parameters) {
  const auto all = with_defaults(parameters);
  if (!all) return Unexpected{all.error()};
  const auto hosts = hosts_of(*all);
  if (!hosts) return Unexpected{hosts.error()};
  return {};
}

Result<void> apply_address(PostgresUrl& url, const std::string& address) {
  auto parameters = read_conninfo(address);
  if (!parameters) return Unexpected{std::move(parameters).error()};
  url.target.parameters = *std::move(parameters);
  url.target.connect_timeout = url.timeout;
  complete_direct(url.target);
  if (auto checked = check_servers(url.target.parameters); !checked) return checked;
  return url.target.direct ? check_servers(*url.target.direct) : Result<void>{};
}

}  // namespace

bool is_postgres_url(std::string_view url) {
  return core::has_scheme(url, "postgres:") || core::has_scheme(url, "postgresql:");
}

Result<PostgresUrl> parse_postgres_url(std::string_view text) {
  if (!core::has_scheme(text, "postgres://") && !core::has_scheme(text, "postgresql://")) {
    return invalid("the URL does not begin with postgres://",
                   "write postgres://[user[:password]@][host[:port][,…]][/database]");
  }
  text.remove_prefix(text.find("://") + 3);
  PostgresUrl url;
  // libpq knows the scheme in small letters alone.
  const std::string address = "postgres://" + std::string{core::cut(text, '?')};
  std::string for_libpq;
  while (!text.empty()) {
    if (auto taken = take_parameter(url, core::cut(text, '&'), for_libpq); !taken) {
      return Unexpected{std::move(taken).error()};
    }
  }
  if (auto applied = apply_address(url, address + for_libpq); !applied) {
    return Unexpected{std::move(applied).error()};
  }
  return url;
}

}  // namespace holdfast::postgres
