#include "client/shown_postgres_url.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/percent.h"
#include "client/shown_url.h"
#include "core/url_text.h"

namespace holdfast {
namespace {

using postgres::Parameters;

constexpr std::array<std::string_view, 3> kSecrets{"password", "sslpassword", "scram_client_key"};
/// What stands before the question mark.
constexpr std::array<std::string_view, 4> kAddress{"host", "port", "user", "dbname"};

template <std::size_t kCount>
bool is_among(const std::array<std::string_view, kCount>& some, const std::string& keyword) {
  return std::ranges::find(some, keyword) != some.end();
}

std::string parameter(const Parameters& parameters, const std::string& keyword) {
  const auto found = parameters.find(keyword);
  return found == parameters.end() ? std::string{} : found->second;
}

/// `host:port,host:port`, of two lists of which the second may have one element for all.
std::string hosts_of(const Parameters& parameters) {
  const std::string hosts = parameter(parameters, "host");
  const std::string ports = parameter(parameters, "port");
  std::string_view names = hosts;
  std::string_view numbers = ports;
  const bool one_for_all = ports.find(',') == std::string::npos;
  std::string shown;
  do {
    const std::string_view number = one_for_all ? std::string_view{ports} : core::cut(numbers, ',');
    const std::string_view name = core::cut(names, ',');
    if (!shown.empty()) shown += ',';
    const bool is_v6 = name.find(':') != std::string_view::npos;
    shown += is_v6 ? '[' + std::string{name} + ']' : percent_encode(name, "-._~");
    if (!number.empty()) shown += ':' + std::string{number};
  } while (!names.empty());
  return shown;
}

/// As libpq reads it: `host='a' port='1'`.
std::string conninfo_of(const Parameters& parameters) {
  std::string text;
  for (const auto& [keyword, value] : parameters) {
    if (is_among(kSecrets, keyword)) continue;
    text += (text.empty() ? "" : " ") + keyword + "='";
    for (const char c : value) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
    text += '\'';
  }
  return text;
}

}  // namespace

std::string shown_postgres_url(const postgres::PostgresUrl& url) {
  const Parameters& parameters = url.target.parameters;
  std::string shown = "postgres://";
  const std::string user = parameter(parameters, "user");
  if (!user.empty()) shown += percent_encode(user, "-._~") + '@';
  shown += hosts_of(parameters);
  const std::string database = parameter(parameters, "dbname");
  if (!database.empty()) shown += '/' + percent_encode(database, "-._~");
  shown += "?prefix=" + percent_encode(url.prefix, "-._~:/");
  if (url.mode == postgres::Mode::advisory) add_parameter(shown, "mode", "advisory");
  for (const auto& [keyword, value] : parameters) {
    if (is_among(kSecrets, keyword) || is_among(kAddress, keyword)) continue;
    add_parameter(shown, keyword.c_str(), value);
  }
  if (url.target.direct) add_parameter(shown, "listen", conninfo_of(*url.target.direct));
  if (url.target.pooling == postgres::Pooling::session) add_parameter(shown, "pooler", "session");
  return shown;
}

}  // namespace holdfast
