#include "cli/script_lease.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

void print_json(const ScriptLease& taken, const std::string& engine, Console& console) {
  auto object = lease_json(taken.lease, engine);
  if (taken.intent) object["intent_owner"] = taken.intent->owner().to_string();
  console.print(object);
}

void print_text(const ScriptLease& taken, const std::string& engine, Console& console) {
  const Lease& lease = taken.lease;
  const auto left = std::chrono::duration_cast<Millis>(lease.valid_for());
  console.print(fmt::format("name       {}", console.paint(printable(lease.name()), Tone::name)));
  console.print(fmt::format("mode       {}", to_string(lease.mode())));
  console.print(fmt::format("token      {}", lease.token().value()));
  console.print(fmt::format("owner      {}", lease.owner().to_string()));
  if (taken.intent) console.print(fmt::format("intent     {}", taken.intent->owner().to_string()));
  console.print(fmt::format(
      "deadline   {} (in {})", wall_time(wall_now_ms() + left.count()), format_duration(left)));
  console.print(fmt::format("ttl        {}", format_duration(lease.ttl())));
  console.print(fmt::format("engine     {}", engine));
  console.print(fmt::format("sequencer  {}", lease.sequencer()));
}

}  // namespace

int hand_to_script(ScriptLease taken, const std::string& engine, Console& console) {
  console.json() ? print_json(taken, engine, console) : print_text(taken, engine, console);
  if (std::fflush(stdout) != 0) {
    (void)taken.lease.release();
    if (taken.intent) (void)taken.intent->release();
    return console.finish(to_int(ExitCode::io));
  }
  auto detached = taken.lease.detach();
  if (detached && taken.intent) detached = taken.intent->detach();
  return detached ? to_int(ExitCode::ok) : console.fail_on_stderr(detached.error());
}

}  // namespace holdfast::cli
