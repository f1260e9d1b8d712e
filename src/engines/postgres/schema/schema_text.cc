#include "engines/postgres/schema/schema_text.h"

#include <array>
#include <string_view>

#include "base/join.h"
#include "engines/postgres/schema/advisory_sql.h"
#include "engines/postgres/schema/base_sql.h"
#include "engines/postgres/schema/callers_sql.h"
#include "engines/postgres/schema/fence_sql.h"
#include "engines/postgres/schema/lease_sql.h"
#include "engines/postgres/schema/limits_sql.h"
#include "engines/postgres/schema/schema.h"
#include "engines/postgres/schema/store_sql.h"

namespace holdfast::postgres {
namespace {

constexpr std::array kParts{sql::kBase,
                            sql::kReserve,
                            sql::kLease,
                            sql::kAdvisory,
                            sql::kFence,
                            sql::kStoreRows,
                            sql::kStoreFenced,
                            sql::kStoreWrite,
                            sql::kStoreWriteSlowly,
                            sql::kStorePlain,
                            sql::kCallersFence,
                            sql::kCallersOnce,
                            sql::kCallersLock,
                            sql::kLimits,
                            sql::kNames};

/// Who could use the schema can use what is new in it.
constexpr std::string_view kGrantAnew = R"sql(
PERFORM holdfast.grant_to(g.rolname, 'application')
  FROM pg_proc p CROSS JOIN aclexplode(p.proacl) a JOIN pg_roles g ON g.oid = a.grantee
  WHERE p.oid = 'holdfast.mint()'::regprocedure AND a.grantee <> p.proowner;
)sql";

/// Version 2: tokens that are handed out before they are on disk are reserved.
constexpr std::string_view kReservation =
    Joined<sql::kReserve, sql::kCallersLock, kGrantAnew>::value;

/// Version 3: rate limits.
constexpr std::string_view kLimiting = Joined<sql::kLimits, sql::kLimitsStep>::value;

/// Version 4: who is given a lock is told its token.
constexpr std::string_view kTelling =
    Joined<sql::kLeaseHandOver, sql::kLeaseRelease, sql::kStoreWrite>::value;

/// kSteps[N - 1] makes version N + 1 of version N.
constexpr std::array<std::string_view, kSchemaVersion - 1> kSteps{
    kReservation, kLimiting, kTelling};

/// Statements have one command each: several become the body of an anonymous function. One such
/// body at a time, for whoever makes or changes the schema.
std::string as_one_command(const std::string& body) {
  return "DO $holdfast$ BEGIN\n"
         "PERFORM pg_advisory_xact_lock(hashtextextended('holdfast schema', 0));\n" +
         body + "\nEND $holdfast$";
}

constexpr std::string_view kUnlessThere = "IF to_regclass('holdfast.version') IS NULL THEN\n";

std::string make_sql() { return std::string{kUnlessThere} + creation_sql() + "END IF;\n"; }

std::string upgrade_sql() {
  std::string text;
  for (std::int32_t from = 1; from < kSchemaVersion; ++from) {
    text += "IF (SELECT version FROM holdfast.version) = " + std::to_string(from) + " THEN\n";
    text += step_sql(from);
    text += "UPDATE holdfast.version SET version = " + std::to_string(from + 1) + ";\nEND IF;\n";
  }
  return text + "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;\n";
}

constexpr std::string_view kRemoval = "PERFORM holdfast.conceal();\nDROP SCHEMA holdfast CASCADE;";

constexpr std::string_view kNobodyHolds = R"sql(
IF EXISTS (SELECT FROM holdfast.list('') l WHERE l.kind = 'holder') THEN
  RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'leases stand in this database';
END IF;
)sql";

}  // namespace

std::string creation_sql() {
  std::string text;
  for (const std::string_view part : kParts) text += part;
  text += "\nREVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;\n";
  return text + "INSERT INTO holdfast.version (version) VALUES (" + std::to_string(kSchemaVersion) +
         ");\n";
}

std::string step_sql(std::int32_t from) {
  const auto at = static_cast<std::size_t>(from) - 1;
  return at < kSteps.size() ? std::string{kSteps.begin()[at]} : std::string{};
}

const Statement& creation_statement() {
  static const std::string text = as_one_command(make_sql());
  static const Statement statement{"holdfast_create", text};
  return statement;
}

std::string installation_sql(const std::string& uses) {
  const std::string newest = std::to_string(kSchemaVersion);
  return as_one_command(make_sql() + "IF (SELECT version FROM holdfast.version) <= " + newest +
                        " THEN\n" + upgrade_sql() + uses + "END IF;");
}

const Statement& removal_statement() {
  static const std::string text = as_one_command(std::string{kNobodyHolds} + std::string{kRemoval});
  static const Statement statement{"holdfast_remove", text};
  return statement;
}

const Statement& forced_removal_statement() {
  static const std::string text = as_one_command(std::string{kRemoval});
  static const Statement statement{"holdfast_remove_forced", text};
  return statement;
}

}  // namespace holdfast::postgres
