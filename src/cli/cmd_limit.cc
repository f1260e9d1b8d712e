#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/capture.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/rate_text.h"
#include "cli/store/fence_arguments.h"
#include "cli/text.h"
#include "holdfast/rate_limit.h"

namespace holdfast::cli {
namespace {

struct LimitArguments {
  std::string key;
  std::string rate;
  std::string burst{"0"};
  std::string cost{"1"};
  std::string wait{"0"};
};

struct Wanted {
  RateLimit limit;
  TakeOptions options;
};

Error of_option(std::string_view option, Error error) {
  error.message = fmt::format("{}: {}", option, error.message);
  return error;
}

Result<Wanted> to_wanted(const LimitArguments& arguments) {
  Wanted wanted;
  const auto rate = parse_rate(arguments.rate);
  if (!rate) return Unexpected{of_option("--rate", rate.error())};
  wanted.limit.rate = *rate;
  const auto burst = number_option("--burst", arguments.burst);
  if (!burst) return Unexpected{burst.error()};
  wanted.limit.burst = *burst;
  const auto cost = number_option("--cost", arguments.cost);
  if (!cost) return Unexpected{cost.error()};
  wanted.options.cost = *cost;
  const auto wait = parse_wait(arguments.wait);
  if (!wait) return Unexpected{of_option("--wait", wait.error())};
  wanted.options.wait = *wait;
  return wanted;
}

/// In a scope of its own: nothing of the connection is left when the program begins.
Result<RateDecision> take(const std::string& engine, const std::string& key, const Wanted& wanted) {
  auto limiter = RateLimiter::connect(engine);
  if (!limiter) return Unexpected{limiter.error()};
  return limiter->take(key, wanted.limit, wanted.options);
}

/// Never sooner than it would be allowed.
Millis whole(Duration time) { return std::chrono::ceil<Millis>(time); }

void print(const LimitArguments& arguments, const RateDecision& decision, Console& console) {
  if (console.json()) {
    console.print({{"key", to_utf8(arguments.key)},
                   {"allowed", decision.allowed},
                   {"remaining", decision.remaining},
                   {"waited_ms", whole(decision.delay).count()},
                   {"retry_after_ms", whole(decision.retry_after).count()}});
    return;
  }
  const std::string key = printable(arguments.key);
  if (decision.allowed) {
    console.print(
        fmt::format("{} allowed, {} left", console.paint(key, Tone::name), decision.remaining));
  } else {
    console.note(fmt::format("holdfast: '{}' is over its limit of {}; retry in {}",
                             key,
                             arguments.rate,
                             format_duration(whole(decision.retry_after))));
  }
}

/// The program takes the place of this one. Gives an exit code only when it cannot be started.
int become(const std::vector<std::string>& program, Console& console) {
  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  (void)console.fail_on_stderr(could_not_start(program.front(), error));
  return to_int(exit_code_of_exec(error));
}

int limit(const Invocation& invocation, const LimitArguments& arguments, Console& console) {
  const auto wanted = to_wanted(arguments);
  if (!wanted) return console.fail(wanted.error());
  const auto decision = take(invocation.engine, arguments.key, *wanted);
  if (!decision) return console.fail(decision.error());
  if (decision->allowed && !invocation.program.empty()) {
    return become(invocation.program, console);
  }
  print(arguments, *decision, console);
  return to_int(decision->allowed ? ExitCode::ok : ExitCode::busy);
}

}  // namespace

void add_limit(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("limit", "Run a program unless it has run too often: a rate limit");
  auto arguments = std::make_shared<LimitArguments>();
  command->add_option("KEY", arguments->key, "What is limited: 1 to 512 bytes of UTF-8")
      ->required();
  command->add_option("--rate", arguments->rate, "How many in what time: 10/s, 100/m, 3/10s")
      ->type_name("N/TIME")
      ->required();
  command
      ->add_option("--burst",
                   arguments->burst,
                   "How many may go at once (default as many as the rate has in its time)")
      ->type_name("N");
  command->add_option("--cost", arguments->cost, "How many this takes of them (default 1)")
      ->type_name("N");
  command->add_option("--wait", arguments->wait, "How long to wait: 0, 10s, or forever (default 0)")
      ->type_name("TIME");
  command->footer(
      "\nEverybody who uses the key shares the limit, and gives the same one. A burst may go at\n"
      "once; then the rest, evenly, at the rate. Without a program it only asks, and says what is\n"
      "left. No lock is held while the program runs.\n"
      "\nExit codes: the program's own; 75 refused, and stderr or --json says when to retry.\n"
      "\nExamples:\n"
      "  holdfast limit api/$USER --rate 10/s -- curl https://example.com/api\n"
      "  holdfast limit mail --rate 100/h --burst 5 --wait 1m -- ./send-mail\n"
      "  holdfast --json limit login/203.0.113.7 --rate 5/m");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return limit(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
