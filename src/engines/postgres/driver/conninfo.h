// What libpq calls connection parameters: `host`, `port`, `user`, `sslmode` and many more.
//
// Thread safety: any thread.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"

namespace holdfast::postgres {

using Parameters = std::map<std::string, std::string>;

/// Whether libpq knows a parameter of that name.
bool is_parameter(std::string_view keyword);

/// Of a URL, or of `host=… port=…`, as libpq reads them. invalid_argument: it does not; the message
/// quotes nothing, because credentials may be anywhere.
Result<Parameters> read_conninfo(const std::string& text);

/// The same with what the environment (PGHOST, …), service files and libpq itself add.
/// invalid_argument: there is no such service, or a parameter has a value it cannot have.
Result<Parameters> with_defaults(const Parameters& parameters);

/// One server of those that `host`, `hostaddr` and `port` name.
struct Host {
  /// A name, an address, or the directory of a Unix socket.
  std::string host{};
  /// Empty: to be looked up.
  std::string address{};
  std::string port{};

  /// Whether there is nothing to look up.
  bool is_address() const;
  /// How messages name it: `host:port`.
  std::string text() const;

  friend bool operator==(const Host&, const Host&) = default;
};

/// Not empty. Of parameters with defaults. invalid_argument: they do not fit together, or a port is
/// none.
Result<std::vector<Host>> hosts_of(const Parameters& parameters);

}  // namespace holdfast::postgres
