#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <memory>

#include "cli/capture.h"
#include "cli/command.h"
#include "cli/once/once_arguments.h"
#include "cli/signals.h"
#include "cli/store/refusal.h"
#include "cli/store/store_json.h"
#include "core/once.h"

namespace holdfast::cli {
namespace {

/// The program's end, and whether somebody asked for it.
struct Outcome {
  Captured captured;
  bool interrupted{false};
};

/// Signals that end things come to the whole group, so to us as well; we outlive them, to see what
/// the program makes of them. Create it before any thread.
class Endurance {
 public:
  Endurance() {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_before_);
    signals_ = open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  }

  Result<Outcome> run_through(const std::vector<std::string>& program) const {
    auto captured =
        run_captured({.program = program, .limit = kValueBytesMax, .signal_mask = mask_before_});
    if (!captured) return Unexpected{std::move(captured).error()};
    return Outcome{.captured = std::move(*captured), .interrupted = came() != 0};
  }

  /// A signal that came, or 0.
  int came() const { return next_signal(signals_.get()); }

 private:
  sigset_t mask_before_{};
  UniqueFd signals_;
};

class OnceRunner {
 public:
  OnceRunner(
      Store store, core::Holder holder, std::string key, OnceOptions options, Console& console)
      : store_{std::move(store)},
        holder_{std::move(holder)},
        key_{std::move(key)},
        options_{options},
        console_{console} {}

  int run(const std::vector<std::string>& program, const Endurance& endurance) {
    auto found = core::find_result(*store_.backend(), key_, holder_);
    if (!found) return give_up(found.error());
    if (*found) return tell(std::move(**found), Ran::before);
    if (const int signal = endurance.came(); signal != 0) return exit_code_of_signal(signal);
    const auto outcome = endurance.run_through(program);
    if (!outcome) return console_.fail(outcome.error());
    return settle(program.front(), *outcome);
  }

 private:
  int settle(const std::string& program, const Outcome& outcome) {
    const Captured& captured = outcome.captured;
    if (captured.start_error != 0) {
      (void)console_.fail(could_not_start(program, captured.start_error));
      return to_int(exit_code_of_exec(captured.start_error));
    }
    if (captured.too_long) {
      return console_.fail(
          {Errc::invalid_argument,
           fmt::format(
               "'{}' printed more than {} bytes; nothing was stored", program, kValueBytesMax),
           "store large results elsewhere, and print their name"});
    }
    OnceResult result{.status = exit_code_of_wait(captured.wait_status), .bytes = captured.output};
    const bool cut_short = outcome.interrupted && result.status != 0;
    if (cut_short || core::keeps(result, options_) == core::Keep::no) {
      static_cast<void>(store_.backend()->perform(core::once_forget(key_, holder_, options_)));
    } else if (auto kept = keep(result); !kept) {
      return give_up(kept.error());
    }
    return tell(std::move(result), Ran::here);
  }

  Result<void, StoreError> keep(const OnceResult& result) {
    const auto request = core::once_write(key_, holder_, result, options_);
    if (!request) return Unexpected{request.error()};
    return core::keep_result(*store_.backend(), *request);
  }

  /// A runner that was overtaken gives what the other one stored, if that has finished.
  int give_up(const StoreError& error) {
    if (error.code != Errc::stale_token) return fail_store(error, console_);
    count_stale(store_, core::once_lock(key_));
    auto theirs = store_.once_result(key_);
    if (theirs && *theirs) return tell(std::move(**theirs), Ran::before);
    core::OnceCourse course{key_, options_, BootClock::now()};
    (void)course.refused_at_write(error);
    return fail_store(course.not_the_runner(Errc::busy), console_);
  }

  int tell(OnceResult result, Ran ran) {
    return print_once(key_, {.result = std::move(result), .ran = ran}, console_);
  }

  Store store_;
  core::Holder holder_;
  std::string key_;
  OnceOptions options_;
  Console& console_;
};

Result<core::Holder> holder_of(const std::string& key) {
  const char* text = std::getenv("HOLDFAST_SEQUENCER");
  const auto sequencer = parse_sequencer(text == nullptr ? "" : text);
  if (!sequencer || sequencer->name != core::once_lock(key)) {
    return Unexpected{Error{Errc::invalid_argument,
                            fmt::format("{} is a part of 'once', for its own use", kOnceRunner),
                            "use 'holdfast once KEY -- PROGRAM'"}};
  }
  auto holder = core::to_holder(*sequencer);
  if (!holder) return Unexpected{static_cast<const Error&>(holder.error())};
  return std::move(*holder);
}

int run_once(const Invocation& invocation, const OnceArguments& arguments, Console& console) {
  prctl(PR_SET_NAME, "holdfast-once");
  const Endurance endurance;
  const auto options = to_once_options(arguments);
  if (!options) return console.fail(options.error());
  auto holder = holder_of(arguments.key);
  if (!holder) return console.fail(holder.error());
  auto store = Store::connect(invocation.engine);
  if (!store) return console.fail(store.error());
  OnceRunner runner{std::move(*store), std::move(*holder), arguments.key, *options, console};
  return runner.run(invocation.program, endurance);
}

}  // namespace

void add_once_runner(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand(kOnceRunner, "Run the program of a 'once'");
  command->group("");
  auto arguments = std::make_shared<OnceArguments>();
  command->add_option("--key", arguments->key)->required();
  command->add_option("--keep", arguments->keep)->required();
  command->add_option("--on-failure", arguments->on_failure)->required();
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return run_once(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
