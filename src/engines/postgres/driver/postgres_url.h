// PostgreSQL URLs, such as `postgres://app:secret@a.example,b.example/shop?mode=advisory`.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/postgres/driver/postgres_target.h"
#include "holdfast/result.h"

namespace holdfast::postgres {

enum class Mode : std::uint8_t { lease, advisory, advisory_xact, row };

/// What a URL says.
struct PostgresUrl {
  PostgresTarget target{};
  Mode mode{Mode::lease};
  /// Put before every name.
  std::string prefix{"hf/"};
  /// Per operation; also how long connecting may take.
  Millis timeout{std::chrono::seconds{5}};
};

/// `postgres://` or `postgresql://`, then as libpq has it, with all of its parameters, of which
/// none is needed: what is missing comes from the environment and from service files.
///
/// Parameters of ours: mode, prefix, timeout, listen (a URL, or `host=… port=…`, of the server
/// itself when this one leads to a pooler; what it leaves open is as here), pooler=session.
/// Without target_session_attrs, of several hosts only one that takes writes is used.
///
/// invalid_argument: the URL is wrong, and the message says where. Messages never quote the parts
/// that may hold credentials.
Result<PostgresUrl> parse_postgres_url(std::string_view url);

/// Whether it begins as a PostgreSQL URL does.
bool is_postgres_url(std::string_view url);

}  // namespace holdfast::postgres
