#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/text.h"
#include "client/postgres_admin.h"

namespace holdfast::cli {
namespace {

struct InstallArguments {
  std::string url;
  PostgresInstallation installation{};
  bool dry_run{false};
};

struct UninstallArguments {
  std::string url;
  bool yes{false};
  bool force{false};
  bool dry_run{false};
};

const std::string& url_of(const std::string& given, const Invocation& invocation) {
  return given.empty() ? invocation.engine : given;
}

boost::json::array names(const std::vector<std::string>& texts) {
  boost::json::array all;
  for (const std::string& text : texts) all.emplace_back(to_utf8(text));
  return all;
}

int show_sql(const std::string& sql, Console& console) {
  if (console.json()) {
    console.print(boost::json::object{{"sql", sql}});
  } else {
    console.print(sql.substr(0, sql.size() - 1));
  }
  return to_int(ExitCode::ok);
}

int install(const Invocation& invocation, const InstallArguments& arguments, Console& console) {
  const PostgresInstallation& wanted = arguments.installation;
  if (arguments.dry_run) return show_sql(postgres_installation_sql(wanted), console);
  const auto schema = install_postgres(url_of(arguments.url, invocation), wanted);
  if (!schema) return console.fail(schema.error());
  if (console.json()) {
    console.print(boost::json::object{{"schema_version", schema->version},
                                      {"identity", schema->identity},
                                      {"names_in", to_utf8(wanted.names_in)},
                                      {"roles", names(wanted.roles)},
                                      {"operators", names(wanted.operators)}});
  } else {
    console.print(fmt::format("the schema {} is there, version {}; roles that may use it now: {}",
                              console.paint("holdfast", Tone::name),
                              schema->version,
                              wanted.roles.size() + wanted.operators.size()));
  }
  return to_int(ExitCode::ok);
}

int uninstall(const Invocation& invocation, const UninstallArguments& arguments, Console& console) {
  if (arguments.dry_run) return show_sql(postgres_removal_sql(), console);
  if (!arguments.yes) {
    return console.fail(Error{Errc::invalid_argument,
                              "this removes all leases, values and marks of the database",
                              "add --yes"});
  }
  const auto standing = arguments.force ? StandingLeases::ignore : StandingLeases::refuse;
  const auto removed = uninstall_postgres(url_of(arguments.url, invocation), standing);
  if (!removed) return console.fail(removed.error());
  if (console.json()) {
    console.print(boost::json::object{{"removed", true}});
  } else {
    console.print(fmt::format("the schema {} is gone", console.paint("holdfast", Tone::name)));
  }
  return to_int(ExitCode::ok);
}

void add_install_postgres(CLI::App& install_command, Invocation& invocation) {
  auto* command = install_command.add_subcommand(
      "postgres", "Make the schema that locks and the store need, and grant its use");
  auto arguments = std::make_shared<InstallArguments>();
  command->add_option("URL", arguments->url, "The database, as its owner (default: --engine)");
  command->add_option("--role", arguments->installation.roles, "May use locks; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--operator",
                   arguments->installation.operators,
                   "May also break locks and rebase resources; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--schema",
                   arguments->installation.names_in,
                   "Where holdfast_open, holdfast_check and holdfast_fence are (default public)")
      ->type_name("NAME");
  command->add_flag("--dry-run", arguments->dry_run, "Print the SQL instead, for psql");
  command->footer(
      "\nMay be repeated: it brings an older schema up to date and grants to more roles.\n"
      "A role gets USAGE on the schema and EXECUTE on its functions, and no right to a table.\n"
      "\nExamples:\n"
      "  holdfast install postgres postgres://admin@db/shop --role app\n"
      "  holdfast install postgres --role app --dry-run | psql shop");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return install(invocation, *arguments, console);
    };
  });
}

void add_uninstall_postgres(CLI::App& uninstall_command, Invocation& invocation) {
  auto* command = uninstall_command.add_subcommand("postgres", "Remove the schema");
  auto arguments = std::make_shared<UninstallArguments>();
  command->add_option("URL", arguments->url, "The database, as its owner (default: --engine)");
  command->add_flag("--yes", arguments->yes, "Really");
  command->add_flag("--force", arguments->force, "Also while leases stand");
  command->add_flag("--dry-run", arguments->dry_run, "Print the SQL instead, for psql");
  command->footer(
      "\nWith it go all leases, values and marks. Drop triggers that call holdfast_fence first.\n"
      "\nExamples:\n"
      "  holdfast uninstall postgres postgres://admin@db/shop --yes");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return uninstall(invocation, *arguments, console);
    };
  });
}

}  // namespace

void add_install(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("install", "Make what an engine needs in a database");
  command->require_subcommand(0, 1);
  command->footer(
      "\n'holdfast install postgres --help' tells more.\n"
      "\nExamples:\n"
      "  holdfast install postgres postgres://admin@db/shop --role app");
  add_install_postgres(*command, invocation);
}

void add_uninstall(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("uninstall", "Remove what install has made");
  command->require_subcommand(0, 1);
  command->footer(
      "\n'holdfast uninstall postgres --help' tells more.\n"
      "\nExamples:\n"
      "  holdfast uninstall postgres postgres://admin@db/shop --yes");
  add_uninstall_postgres(*command, invocation);
}

}  // namespace holdfast::cli
