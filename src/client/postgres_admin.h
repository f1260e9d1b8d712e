// What administrators do to the schema of a PostgreSQL database; for the command.
//
// Thread safety: any thread; calls block.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"

namespace holdfast {

struct PostgresInstallation {
  /// Where functions for callers have names that need no schema.
  std::string names_in{"public"};
  /// Who may use locks and the store.
  std::vector<std::string> roles{};
  /// Who may also take locks and resources away from others.
  std::vector<std::string> operators{};
};

struct InstalledSchema {
  std::int32_t version{0};
  std::string identity;
};

/// Makes the schema or brings it up to date, and grants: all of it or nothing. May be repeated.
/// denied: the role of the URL may not. unsupported: the schema is of a newer version.
/// invalid_argument: there is no such role, or no schema to put names into.
Result<InstalledSchema> install_postgres(std::string_view url,
                                         const PostgresInstallation& installation);

/// The same as SQL for psql, in one transaction. Asks nobody.
std::string postgres_installation_sql(const PostgresInstallation& installation);

enum class StandingLeases : std::uint8_t { refuse, ignore };

/// Removes the schema with everything in it. busy: leases stand, or somebody's trigger stands on
/// the fence. not_found: there is none.
Result<void> uninstall_postgres(std::string_view url, StandingLeases standing);

std::string postgres_removal_sql();

}  // namespace holdfast
