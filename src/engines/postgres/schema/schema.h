// The schema `holdfast` that the engines and the store need in a database: one versioned script.
//
// Everything in it belongs to whoever made it. Functions run with that one's rights, and nobody
// else may call them until it grants so: who uses locks needs no right to any table.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "engines/postgres/postgres_port.h"
#include "holdfast/result.h"

namespace holdfast::postgres {

/// Of the schema this program uses. A change of the SQL that a database may have already is a new
/// version, with a step from the one before.
inline constexpr std::int32_t kSchemaVersion = 4;

/// A schema that is there.
struct SchemaFacts {
  std::int32_t version{0};
  /// Random, and the same for as long as the schema is there.
  std::string identity;
};

/// not_found: there is none. denied: this role may not use it. Otherwise as PostgresPort::send()
/// and error_of() have it.
Task<Result<SchemaFacts>> read_schema(PostgresPort& port, TimePoint answer_by);

/// What every program does first: makes the schema unless it is there. Two that come at once wait
/// for each other.
///
/// denied: this role may neither use nor make it; the remedy says who can. unsupported: it is of
/// another version, with both numbers. Otherwise as read_schema().
Task<Result<SchemaFacts>> ensure_schema(PostgresPort& port, TimePoint answer_by);

enum class Rights : std::uint8_t {
  /// To use locks and the store.
  application,
  /// Also to take locks and resources away from others.
  operate,
};

/// Who uses the schema, and by which names.
struct Installation {
  /// The schema where the functions for callers have names too.
  std::string names_in{"public"};
  std::vector<std::string> roles{};
  /// They have Rights::operate.
  std::vector<std::string> operators{};
};

/// Makes the schema or brings an older one up to date, and grants: all of it, or nothing when
/// something is refused. Whoever calls owns it.
///
/// invalid_argument: there is no such role, or no schema to put names into. Otherwise as
/// ensure_schema().
Task<Result<SchemaFacts>> install_schema(PostgresPort& port,
                                         Installation installation,
                                         TimePoint answer_by);

enum class Standing : std::uint8_t { refuse, ignore };

/// Removes everything. busy: leases stand, and `standing` is `refuse`. not_found: there is none.
/// denied, and with the server's words when a trigger of somebody's stands on the fence.
Task<Result<void>> uninstall_schema(PostgresPort& port, Standing standing, TimePoint answer_by);

/// What an administrator may run with psql instead, in one transaction each. The first makes the
/// schema where there is none; grant_script() is a line of it.
std::string installation_script(const Installation& installation);
std::string grant_script(std::string_view role, Rights rights);
std::string uninstall_script();

}  // namespace holdfast::postgres
