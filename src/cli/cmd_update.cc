#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/capture.h"
#include "cli/command.h"
#include "cli/store/fence_arguments.h"
#include "cli/store/store_json.h"
#include "cli/text.h"
#include "core/update.h"

namespace holdfast::cli {
namespace {

struct UpdateArguments {
  std::string key;
  std::string attempts{"100"};
};

/// One run of the command: the program computes, the store decides.
class Updating {
 public:
  Updating(Store store, std::string key, std::vector<std::string> program, Console& console)
      : store_{std::move(store)},
        key_{std::move(key)},
        program_{std::move(program)},
        console_{console} {}

  int run(const UpdateOptions& options) {
    std::optional<Result<Captured>> computed;
    const auto report = store_.update(
        key_,
        [&](const Entry* entry) -> std::optional<std::string> {
          computed = compute(entry);
          if (!*computed || !brought_a_value(**computed)) return std::nullopt;
          return (*computed)->output;
        },
        options);
    if (!report) return fail_store(report.error(), console_);
    if (report->version) return succeed(*report);
    return *computed ? fail(**computed, *report) : console_.fail(computed->error());
  }

 private:
  Result<Captured> compute(const Entry* entry) const {
    const Version version = entry == nullptr ? Version::absent() : entry->version;
    return run_captured({.program = program_,
                         .environment = {"HOLDFAST_KEY=" + key_,
                                         fmt::format("HOLDFAST_VERSION={}", version.value())},
                         .input = entry == nullptr ? "" : entry->value,
                         .limit = kValueBytesMax});
  }

  static bool brought_a_value(const Captured& computed) {
    return computed.start_error == 0 && !computed.too_long &&
           exit_code_of_wait(computed.wait_status) == 0;
  }

  int fail(const Captured& computed, const UpdateReport& report) {
    if (computed.start_error != 0) {
      (void)console_.fail(could_not_start(program_.front(), computed.start_error));
      return to_int(exit_code_of_exec(computed.start_error));
    }
    if (computed.too_long) {
      return console_.fail({Errc::invalid_argument,
                            fmt::format("the new value has more than {} bytes", kValueBytesMax),
                            "print at most 1 MiB; nothing was written"});
    }
    const int code = exit_code_of_wait(computed.wait_status);
    if (console_.json()) {
      console_.print({{"key", to_utf8(key_)},
                      {"version", nullptr},
                      {"conflicts", report.conflicts},
                      {"status", code}});
    } else {
      console_.note(fmt::format(
          "holdfast: '{}' failed with {}; nothing was written", printable(program_.front()), code));
    }
    return code;
  }

  int succeed(const UpdateReport& report) {
    const std::uint64_t version = report.version->value();
    if (console_.json()) {
      console_.print(
          {{"key", to_utf8(key_)}, {"version", version}, {"conflicts", report.conflicts}});
    } else {
      console_.print(fmt::format(
          "{} written, version {}{}",
          console_.paint(printable(key_), Tone::name),
          version,
          report.conflicts == 0 ? "" : fmt::format(" after {} conflicts", report.conflicts)));
    }
    return to_int(ExitCode::ok);
  }

  Store store_;
  std::string key_;
  std::vector<std::string> program_;
  Console& console_;
};

Result<UpdateOptions> to_update_options(const UpdateArguments& arguments) {
  const auto attempts = number_option("--attempts", arguments.attempts);
  if (!attempts) return Unexpected{attempts.error()};
  // One more than the most: out of range is out of range.
  constexpr std::uint64_t kBeyond = 1'000'001;
  const UpdateOptions options{.attempts = static_cast<std::uint32_t>(std::min(*attempts, kBeyond))};
  if (auto good = core::check_update(options); !good) {
    return Unexpected{Error{Errc::invalid_argument,
                            fmt::format("--attempts: {} is out of range", *attempts),
                            std::string{good.error().remedy()}}};
  }
  return options;
}

int update(const Invocation& invocation, const UpdateArguments& arguments, Console& console) {
  if (invocation.program.empty()) {
    return console.fail_usage("no program to run was given",
                              "put it after --, as in: holdfast update KEY -- PROGRAM ARGUMENT");
  }
  const auto options = to_update_options(arguments);
  if (!options) return console.fail(options.error());
  auto store = Store::connect(invocation.engine);
  if (!store) return console.fail(store.error());
  return Updating{std::move(*store), arguments.key, invocation.program, console}.run(*options);
}

}  // namespace

void add_update(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand(
      "update", "Change a value with a program, without a lock: compare-and-swap");
  auto arguments = std::make_shared<UpdateArguments>();
  command->add_option("KEY", arguments->key, "The key: 1 to 512 bytes of UTF-8")->required();
  command
      ->add_option("--attempts",
                   arguments->attempts,
                   "Give up after this many, each with somebody else first (default 100)")
      ->type_name("N");
  command->footer(
      "\nThe program finds the old value on stdin (nothing if there is none) and prints the new\n"
      "one. It gets HOLDFAST_KEY and HOLDFAST_VERSION, which is 0 if there is no value. If\n"
      "somebody else was faster it runs again, after a random pause that grows: it must have no\n"
      "other effect. If it fails nothing is written, and the exit code is its own. Exits 79 after\n"
      "the last attempt.\n"
      "\nExamples:\n"
      "  holdfast update visits -- sh -c 'read n; echo $((n + 1))'\n"
      "  holdfast update config -- jq '.workers = 8'");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return update(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
