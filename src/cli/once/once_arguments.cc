#include "cli/once/once_arguments.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/store/store_json.h"
#include "cli/text.h"
#include "core/once.h"

namespace holdfast::cli {
namespace {

/// A status that a shell cannot express is a failure still.
int exit_code_of_status(std::int32_t status) { return status >= 0 && status <= 255 ? status : 1; }

}  // namespace

void add_once_arguments(CLI::App& command, OnceArguments& arguments) {
  command.add_option("KEY", arguments.key, "The key: 1 to 507 bytes of UTF-8")->required();
  command.add_option("--keep", arguments.keep, "How long later calls get the result (default 24h)")
      ->type_name("TIME");
  command
      .add_option("--ttl",
                  arguments.ttl,
                  "Lifetime of the runner's lease: how long others wait if it vanishes (default "
                  "30s)")
      ->type_name("TIME");
  command
      .add_option("--wait",
                  arguments.wait,
                  "How long to wait for another runner: forever, 10s, or 0 (default forever)")
      ->type_name("TIME");
  command
      .add_option("--on-failure",
                  arguments.on_failure,
                  "store: keep a failure as well (default); retry: the next call runs again")
      ->type_name("WHAT");
}

Result<OnceOptions> to_once_options(const OnceArguments& arguments) {
  OnceOptions options;
  const auto keep = duration_option("--keep", arguments.keep);
  if (!keep) return Unexpected{keep.error()};
  options.keep = *keep;
  const auto ttl = duration_option("--ttl", arguments.ttl);
  if (!ttl) return Unexpected{ttl.error()};
  options.ttl = *ttl;
  const auto wait = parse_wait(arguments.wait);
  if (!wait) {
    return Unexpected{Error{Errc::invalid_argument,
                            "--wait: " + wait.error().message,
                            std::string{wait.error().remedy()}}};
  }
  options.wait = *wait;
  if (arguments.on_failure != "store" && arguments.on_failure != "retry") {
    return Unexpected{Error{Errc::invalid_argument,
                            fmt::format("--on-failure: '{}' is neither store nor retry",
                                        printable(arguments.on_failure)),
                            "say what becomes of a failure"}};
  }
  options.on_failure = arguments.on_failure == "retry" ? OnFailure::retry : OnFailure::store;
  if (auto good = core::check_once(arguments.key, options); !good) {
    return Unexpected{std::move(good).error()};
  }
  return options;
}

int print_once(std::string_view key, const OnceReport& report, Console& console) {
  const auto& [status, bytes] = report.result;
  if (console.json()) {
    boost::json::object object{{"key", to_utf8(key)},
                               {"ran", report.ran == Ran::here ? "here" : "before"},
                               {"status", status}};
    add_bytes(object, "output", bytes);
    console.print(object);
  } else {
    console.print_bytes(bytes);
  }
  return exit_code_of_status(status);
}

}  // namespace holdfast::cli
