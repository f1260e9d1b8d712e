#include "engines/postgres/schema/schema.h"

#include <memory>
#include <utility>

#include "engines/postgres/refusal_error.h"
#include "engines/postgres/schema/schema_text.h"

namespace holdfast::postgres {
namespace {

constexpr Statement kReadStatement{"holdfast_version",
                                   "SELECT version, identity FROM holdfast.version"};

std::string_view word(Rights rights) {
  return rights == Rights::application ? "application" : "operator";
}

std::string quoted(std::string_view text) {
  std::string literal{"'"};
  for (const char letter : text) {
    if (letter == '\'') literal += '\'';
    literal += letter;
  }
  return literal + '\'';
}

std::string grant_call(std::string_view role, Rights rights) {
  return "holdfast.grant_to(" + quoted(role) + ", " + quoted(word(rights)) + ");\n";
}

/// Each call after `verb`.
std::string uses_of(const Installation& installation, const std::string& verb) {
  std::string text = verb + " holdfast.expose(" + quoted(installation.names_in) + ");\n";
  for (const std::string& role : installation.roles) {
    text += verb + ' ' + grant_call(role, Rights::application);
  }
  for (const std::string& role : installation.operators) {
    text += verb + ' ' + grant_call(role, Rights::operate);
  }
  return text;
}

/// A statement for this once, with its text.
struct Composed {
  explicit Composed(std::string text) : sql{std::move(text)} {}

  std::string sql;
  Statement statement{"", sql};
  Call call{.statement = &statement, .args = {}};
};

Error refused(const Refusal& refusal) {
  Error error = error_of(refusal);
  if (refusal.sqlstate == "3F000" || refusal.sqlstate == "42P01") {
    return {Errc::not_found, "there is no schema holdfast: " + error.message};
  }
  if (refusal.sqlstate == "HF005") error = {Errc::busy, error.message};
  // There is no such role.
  if (refusal.sqlstate == "42704") error = {Errc::invalid_argument, error.message};
  if (refusal.sqlstate == "2BP01") {
    error = {Errc::busy, error.message, "drop the triggers that call holdfast_fence first"};
  }
  if (error.code == Errc::denied) {
    error.remedy_text =
        "an administrator runs `holdfast install postgres URL --role ROLE`, or with psql what "
        "`--dry-run` prints";
  }
  return error;
}

Result<Rows> rows_or_refused(Result<Answer> answer) {
  if (!answer) return Unexpected{std::move(answer).error()};
  if (const auto* refusal = std::get_if<Refusal>(&*answer)) return Unexpected{refused(*refusal)};
  return std::get<Rows>(*std::move(answer));
}

Task<Result<Rows>> run(PostgresPort& port, SharedCall call, TimePoint answer_by) {
  auto answer = co_await port.answered(call, answer_by);
  co_return rows_or_refused(std::move(answer));
}

Result<void> done(const Result<Rows>& rows) {
  if (!rows) return Unexpected{rows.error()};
  return {};
}

Result<SchemaFacts> facts_of(const Rows& rows) {
  if (rows.size() != 1 || rows[0].size() != 2 || !rows[0][0] || !rows[0][1]) {
    return Unexpected{Error{Errc::corrupt, "the table holdfast.version has not one row"}};
  }
  return SchemaFacts{.version = std::stoi(*rows[0][0]), .identity = *rows[0][1]};
}

Error another_version(const SchemaFacts& facts) {
  const bool older = facts.version < kSchemaVersion;
  return {Errc::unsupported,
          "the schema holdfast is of version " + std::to_string(facts.version) +
              ", and this program needs version " + std::to_string(kSchemaVersion),
          older ? "run `holdfast install postgres URL` to bring it up to date"
                : "use a newer Holdfast"};
}

}  // namespace

Task<Result<SchemaFacts>> read_schema(PostgresPort& port, TimePoint answer_by) {
  const SharedCall call = share({.statement = &kReadStatement, .args = {}});
  const auto rows = co_await run(port, call, answer_by);
  if (!rows) co_return Unexpected{rows.error()};
  co_return facts_of(*rows);
}

Task<Result<SchemaFacts>> ensure_schema(PostgresPort& port, TimePoint answer_by) {
  auto facts = co_await read_schema(port, answer_by);
  if (!facts && facts.error().code == Errc::not_found) {
    const SharedCall call = share({.statement = &creation_statement(), .args = {}});
    const auto made = co_await run(port, call, answer_by);
    if (!made) co_return Unexpected{made.error()};
    facts = co_await read_schema(port, answer_by);
  }
  if (facts && facts->version != kSchemaVersion) {
    co_return Unexpected{another_version(*facts)};
  }
  co_return facts;
}

Task<Result<SchemaFacts>> install_schema(PostgresPort& port,
                                         Installation installation,
                                         TimePoint answer_by) {
  const auto composed =
      std::make_shared<const Composed>(installation_sql(uses_of(installation, "PERFORM")));
  const SharedCall call{composed, &composed->call};
  const auto made = co_await run(port, call, answer_by);
  // The schema that was named: ours is there by then.
  if (!made && made.error().code == Errc::not_found) {
    const Error error{Errc::invalid_argument, "there is no schema of that name to put names into"};
    co_return Unexpected{error};
  }
  if (!made) co_return Unexpected{made.error()};
  co_return co_await ensure_schema(port, answer_by);
}

Task<Result<void>> uninstall_schema(PostgresPort& port, Standing standing, TimePoint answer_by) {
  const auto facts = co_await read_schema(port, answer_by);
  if (!facts) co_return Unexpected{facts.error()};
  const Statement& statement =
      standing == Standing::refuse ? removal_statement() : forced_removal_statement();
  const SharedCall call = share({.statement = &statement, .args = {}});
  const auto rows = co_await run(port, call, answer_by);
  co_return done(rows);
}

std::string installation_script(const Installation& installation) {
  return "BEGIN;\n" + creation_sql() + uses_of(installation, "SELECT") + "COMMIT;\n";
}

std::string grant_script(std::string_view role, Rights rights) {
  return "SELECT " + grant_call(role, rights);
}

std::string uninstall_script() {
  return "BEGIN;\nSELECT holdfast.conceal();\nDROP SCHEMA holdfast CASCADE;\nCOMMIT;\n";
}

}  // namespace holdfast::postgres
