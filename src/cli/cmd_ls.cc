#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

std::string highest_token(const LockInfo& lock) {
  Token highest{0};
  for (const Contender& holder : lock.holders) highest = std::max(highest, holder.token);
  return lock.holders.empty() ? "-" : std::to_string(highest.value());
}

void print_table(const std::vector<LockInfo>& locks, Console& console) {
  std::size_t width = 4;
  for (const LockInfo& lock : locks) width = std::max(width, printable(lock.name).size());
  console.print(console.paint(
      fmt::format(
          "{:<{}}  {:<9}  {:>7}  {:>7}  {}", "NAME", width, "MODE", "HOLDERS", "WAITERS", "TOKEN"),
      Tone::faint));
  for (const LockInfo& lock : locks) {
    const std::string name = fmt::format("{:<{}}", printable(lock.name), width);
    console.print(fmt::format("{}  {:<9}  {:>7}  {:>7}  {}",
                              console.paint(name, Tone::name),
                              to_string(lock.mode),
                              lock.holders.size(),
                              lock.waiters.size(),
                              highest_token(lock)));
  }
}

int list(const Invocation& invocation, const std::string& prefix, Console& console) {
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto locks = client->list(prefix);
  if (!locks) return console.fail(locks.error());
  if (console.json()) {
    boost::json::array array;
    for (const LockInfo& lock : *locks) array.push_back(summary_json(lock));
    console.print(boost::json::object{{"locks", std::move(array)}});
  } else if (locks->empty()) {
    console.note(fmt::format("nobody holds or waits for a lock at {}", client->engine()));
  } else {
    print_table(*locks, console);
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_ls(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("ls", "List the locks that are held or waited for");
  auto prefix = std::make_shared<std::string>();
  command->add_option("PREFIX", *prefix, "Only names that begin with this");
  command->footer(
      "\nExamples:\n"
      "  holdfast ls\n"
      "  holdfast ls reports/ --json | jq -r '.locks[].name'");
  command->callback([&invocation, prefix] {
    invocation.action = [&invocation, prefix](Console& console) {
      return list(invocation, *prefix, console);
    };
  });
}

}  // namespace holdfast::cli
