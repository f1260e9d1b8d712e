#include "engines/postgres/driver/conninfo.h"

#include <libpq-fe.h>

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/decimal.h"
#include "base/invalid.h"
#include "core/url_text.h"

namespace holdfast::postgres {
namespace {

struct Free {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using Options = std::unique_ptr<PQconninfoOption, Free>;

/// Where libpq looks for Unix sockets unless it is told.
constexpr const char* kSocketDirectory = "/var/run/postgresql";

Parameters given_in(const PQconninfoOption* option) {
  Parameters given;
  for (; option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val != nullptr) given[option->keyword] = option->val;
  }
  return given;
}

std::string value_of(const Parameters& parameters, const char* keyword) {
  const auto found = parameters.find(keyword);
  return found == parameters.end() ? std::string{} : found->second;
}

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> items;
  for (bool more = true; more;) {
    more = text.find(',') != std::string_view::npos;
    items.emplace_back(core::cut(text, ','));
  }
  return items;
}

Unexpected<Error> unfit(const char* what) {
  return invalid(std::string{"the servers of the PostgreSQL URL "} + what,
                 "name as many hosts as addresses, and one port for all or one for each");
}

}  // namespace

bool is_parameter(std::string_view keyword) {
  const Options known{PQconndefaults()};
  for (const PQconninfoOption* option = known.get();
       option != nullptr && option->keyword != nullptr;
       ++option) {
    if (keyword == option->keyword) return true;
  }
  return false;
}

Result<Parameters> read_conninfo(const std::string& text) {
  const Options options{PQconninfoParse(text.c_str(), nullptr)};
  if (options) return given_in(options.get());
  return invalid("the PostgreSQL URL is not one that libpq understands",
                 "write postgres://[user[:password]@][host[:port][,…]][/database][?parameter=…], "
                 "with % before what has a meaning of its own");
}

// Only a connection knows all of them. This one fails before it looks for a server, because the
// last thing that is checked is wrong.
Result<Parameters> with_defaults(const Parameters& parameters) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : parameters) {
    if (keyword == "target_session_attrs") continue;
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.insert(keywords.end(), {"target_session_attrs", nullptr});
  values.insert(values.end(), {"none", nullptr});
  const std::unique_ptr<PGconn, Free> connection{
      PQconnectStartParams(keywords.data(), values.data(), /*expand_dbname=*/0)};
  Parameters all = given_in(Options{PQconninfo(connection.get())}.get());
  const std::string said = PQerrorMessage(connection.get());
  if (said.find("service") != std::string::npos && said.find("not found") != std::string::npos) {
    return invalid("the PostgreSQL URL names a service that no service file has: " +
                       value_of(parameters, "service"),
                   "define it in ~/.pg_service.conf, or drop service=");
  }
  if (said.starts_with("invalid ") && said.find("target_session_attrs") == std::string::npos) {
    return invalid("the PostgreSQL URL has an " + said.substr(0, said.find('\n')),
                   "see PostgreSQL's documentation of connection parameters");
  }
  const auto asked = parameters.find("target_session_attrs");
  if (asked == parameters.end()) {
    all.erase("target_session_attrs");
  } else {
    all[asked->first] = asked->second;
  }
  return all;
}

bool Host::is_address() const {
  if (!address.empty() || host.starts_with('/') || host.starts_with('@')) return true;
  boost::system::error_code is_name;
  boost::asio::ip::make_address(host, is_name);
  return !is_name;
}

std::string Host::text() const {
  const std::string& named = host.empty() ? address : host;
  const bool is_ipv6 = !named.starts_with('/') && named.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + named + ']' : named) + ':' + port;
}

Result<std::vector<Host>> hosts_of(const Parameters& parameters) {
  const std::vector<std::string> names = listed(value_of(parameters, "host"));
  const std::vector<std::string> addresses = listed(value_of(parameters, "hostaddr"));
  const std::vector<std::string> ports = listed(value_of(parameters, "port"));
  const bool by_address =
      parameters.contains("hostaddr") && addresses != std::vector{std::string{}};
  const bool by_name = names != std::vector{std::string{}};
  const std::size_t count = by_address ? addresses.size() : names.size();
  if (by_address && by_name && names.size() != addresses.size()) {
    return unfit("are not as many as their addresses");
  }
  if (ports.size() != 1 && ports.size() != count) return unfit("are not as many as their ports");
  std::vector<Host> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    Host host;
    if (by_name) host.host = names[i];
    if (by_address) host.address = addresses[i];
    if (host.host.empty() && host.address.empty()) host.host = kSocketDirectory;
    const std::string& port = ports.size() == 1 ? ports[0] : ports[i];
    host.port = port.empty() ? "5432" : port;
    const auto number = parse_decimal<std::uint16_t>(host.port);
    if (!number || *number == 0) return unfit("have a port that is not 1 to 65535");
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace holdfast::postgres
