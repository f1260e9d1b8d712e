#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/command_line.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

constexpr const char* kFooter =
    "\nEnvironment:\n"
    "  HOLDFAST_ENGINE   the engine when --engine is not given\n"
    "  NO_COLOR          no colour on terminals\n"
    "\nExamples:\n"
    "  holdfast run backup -- rsync -a /data /backup\n"
    "  holdfast run deploy --wait 0 -- ./deploy.sh     exits 75 if somebody else deploys\n"
    "  holdfast ls                                     who holds what\n"
    "\n'holdfast COMMAND --help' tells more, 'man holdfast' tells all.";

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (!runs_a_program(app->get_name())) return usage;
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage + " -- PROGRAM [ARGUMENT...]\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const bool positional = option->get_positional();
    return positional || option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string shared =
        app->get_parent() == nullptr ? "" : "General options: --engine URL, --json\n";
    return shared + CLI::Formatter::make_footer(app);
  }
};

std::string default_engine() {
  const char* engine = std::getenv("HOLDFAST_ENGINE");
  return engine == nullptr || *engine == '\0' ? "local:" : engine;
}

std::string help_hint(const CLI::App& app) {
  std::string words;
  for (auto chosen = app.get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands()) {
    words += chosen.front()->get_name() + " ";
  }
  return fmt::format("see 'holdfast {}--help'", words);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  const auto collect = [&](const CLI::App& from) {
    for (const CLI::Option* option : from.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  collect(app);
  for (auto chosen = app.get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands()) {
    collect(*chosen.front());
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  const auto shown = [](const CLI::App* command) { return !command->get_group().empty(); };
  for (const CLI::App* command : app.get_subcommands(shown)) names.push_back(command->get_name());
  return names;
}

std::string did_you_mean(const std::string& near, const CLI::App& app) {
  return near.empty() ? help_hint(app) : fmt::format("did you mean '{}'? {}", near, help_hint(app));
}

// The first word nobody asked for, explained; empty when every word was understood.
std::optional<Error> unexpected_word(const CLI::App& app) {
  std::vector<std::string> words = app.remaining(true);
  std::erase(words, "--");
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  const auto option = std::ranges::find_if(words, is_option);
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return Error{Errc::invalid_argument,
                 fmt::format("unknown option '{}'", name),
                 did_you_mean(nearest(name, option_names(app)), app)};
  }
  const auto chosen = app.get_subcommands();
  if (words.empty()) return std::nullopt;
  if (chosen.empty()) {
    return Error{Errc::invalid_argument,
                 fmt::format("unknown command '{}'", words.front()),
                 did_you_mean(nearest(words.front(), command_names(app)), app)};
  }
  const bool missing_dashes = runs_a_program(chosen.front()->get_name());
  return Error{Errc::invalid_argument,
               fmt::format("unexpected argument '{}'", words.front()),
               missing_dashes ? "put the program to run after --" : help_hint(app)};
}

int fail_to_understand(const CLI::App& app, const std::string& message, Console& console) {
  const auto word = unexpected_word(app);
  return word ? console.fail_usage(word->message, word->remedy())
              : console.fail_usage(message, help_hint(app));
}

int parse_and_act(CLI::App& app,
                  Invocation& invocation,
                  std::vector<std::string> arguments,
                  Console& console) {
  if (arguments.empty()) {
    console.note(app.help());
    return to_int(ExitCode::usage);
  }
  try {
    std::ranges::reverse(arguments);
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    console.print(app.help());
    return to_int(ExitCode::ok);
  } catch (const CLI::CallForVersion&) {
    if (console.json()) {
      console.print(boost::json::object{{"version", HOLDFAST_VERSION}});
    } else {
      console.print("holdfast " HOLDFAST_VERSION);
    }
    return to_int(ExitCode::ok);
  } catch (const CLI::ParseError& error) {
    return fail_to_understand(app, error.what(), console);
  }
  if (unexpected_word(app) || !invocation.action) {
    return fail_to_understand(app, "no command was given", console);
  }
  return invocation.action(console);
}

}  // namespace

void configure(CLI::App& app, Invocation& invocation) {
  app.name("holdfast");
  app.description("Locks that stay safe when a process pauses, a clock jumps or a network splits.");
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", HOLDFAST_VERSION, "Print the version and exit");
  app.fallthrough();
  app.allow_extras();
  app.require_subcommand(0, 1);
  invocation.engine = default_engine();
  app.add_option("--engine", invocation.engine, "Where the locks are (default local:)")
      ->type_name("URL");
  app.add_flag("--json", invocation.json, "Print JSON, one object or one object per line");
  add_run(app, invocation);
  add_elect(app, invocation);
  add_leader(app, invocation);
  add_acquire(app, invocation);
  add_renew(app, invocation);
  add_release(app, invocation);
  add_upgrade(app, invocation);
  add_downgrade(app, invocation);
  add_ls(app, invocation);
  add_show(app, invocation);
  add_watch(app, invocation);
  add_top(app, invocation);
  add_advise(app, invocation);
  add_break(app, invocation);
  add_check_sequencer(app, invocation);
  add_open(app, invocation);
  add_get(app, invocation);
  add_put(app, invocation);
  add_erase(app, invocation);
  add_check(app, invocation);
  add_update(app, invocation);
  add_once(app, invocation);
  add_once_runner(app, invocation);
  add_limit(app, invocation);
  add_store(app, invocation);
  add_redlock(app, invocation);
  add_install(app, invocation);
  add_uninstall(app, invocation);
  add_bench(app, invocation);
  add_doctor(app, invocation);
  add_lab(app, invocation);
  add_completion(app, invocation);
}

int run_command_line(std::vector<std::string> arguments) {
  CommandLine line = split_command_line(std::move(arguments));
  Console console{asks_for_json(line.arguments) ? Format::json : Format::human};
  Invocation invocation;
  invocation.program = std::move(line.program);
  CLI::App app;
  configure(app, invocation);
  return console.finish(parse_and_act(app, invocation, std::move(line.arguments), console));
}

}  // namespace holdfast::cli
