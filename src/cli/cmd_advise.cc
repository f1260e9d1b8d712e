#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <memory>

#include "cli/advise/advice.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/text.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

double in_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>{duration}.count();
}

std::string short_text(Duration duration) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(duration);
  if (micros < Millis{1}) return fmt::format("{}us", micros.count());
  return format_duration(std::chrono::duration_cast<Millis>(duration));
}

boost::json::object to_json(const LockTimes::Spread& spread) {
  return {
      {"samples", spread.samples}, {"p50_ms", in_ms(spread.p50)}, {"p99_ms", in_ms(spread.p99)}};
}

void print_advice_json(const std::string& name,
                       const std::string& engine,
                       const LockTimes& times,
                       Console& console) {
  boost::json::array advice;
  for (const Advice& one : advise(times, engine)) {
    advice.push_back(boost::json::object{{"topic", one.topic}, {"text", one.text}});
  }
  boost::json::value ttl = nullptr;
  if (times.hold.samples > 0) ttl = advised_ttl(times.hold.p99).count();
  console.print(boost::json::object{{"name", to_utf8(name)},
                                    {"engine", engine},
                                    {"hold", to_json(times.hold)},
                                    {"wait", to_json(times.wait)},
                                    {"contended", times.contended},
                                    {"since_ms", times.since_ms},
                                    {"until_ms", times.until_ms},
                                    {"ttl_ms", std::move(ttl)},
                                    {"advice", std::move(advice)}});
}

void print_spread(const char* what, const LockTimes::Spread& spread, Console& console) {
  console.print(fmt::format("{:<9}{} samples, half within {}, 99 % within {}",
                            what,
                            spread.samples,
                            short_text(spread.p50),
                            short_text(spread.p99)));
}

void print_advice(const std::string& name,
                  const std::string& engine,
                  const LockTimes& times,
                  Console& console) {
  console.print(fmt::format(
      "{}  {}", console.paint(printable(name), Tone::name), console.paint(engine, Tone::faint)));
  console.print(fmt::format("measured {} to {}, by everybody who measures; within 9 %",
                            wall_time(times.since_ms),
                            wall_time(times.until_ms)));
  print_spread("held", times.hold, console);
  print_spread("waited", times.wait, console);
  console.print(fmt::format("had to wait: {} of {}", times.contended, times.wait.samples));
  for (const Advice& one : advise(times, engine)) {
    console.print(fmt::format(
        "{}  {}", console.paint(fmt::format("{:<7}", one.topic), Tone::good), one.text));
  }
}

int advise_on(const Invocation& invocation, const std::string& name, Console& console) {
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto times = lock_times(*client, name);
  if (!times) return console.fail(times.error());
  if (!*times) {
    return console.fail({Errc::not_found,
                         fmt::format("nothing was measured of '{}' yet", printable(name)),
                         "run it with --measure, or set HOLDFAST_MEASURE=1 where it runs"});
  }
  if (console.json()) {
    print_advice_json(name, client->engine(), **times, console);
  } else {
    print_advice(name, client->engine(), **times, console);
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_advise(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("advise", "Advise on a lock by what was measured of it everywhere");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "The lock")->required();
  command->footer(
      "\nWhich TTL suits the time it is held, whether to lock at all, and what the engine "
      "promises.\n"
      "Rests on what `run --measure` and programs with a TimesRecorder left at the engine, under\n"
      "the key holdfast/times/NAME of its store. An engine without a store, as redlock://, has no\n"
      "place for it.\n"
      "\nExamples:\n"
      "  holdfast run deploy --measure -- ./deploy.sh\n"
      "  holdfast advise deploy\n"
      "  holdfast advise deploy --json | jq .ttl_ms\n"
      "  holdfast erase holdfast/times/deploy             measure anew");
  command->callback([&invocation, name] {
    invocation.action = [&invocation, name](Console& console) {
      return advise_on(invocation, *name, console);
    };
  });
}

}  // namespace holdfast::cli
