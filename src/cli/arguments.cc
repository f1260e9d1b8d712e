#include <fmt/format.h>

#include <charconv>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/text.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

Unexpected<Error> invalid(std::string message, std::string remedy) {
  return Unexpected{Error{Errc::invalid_argument, std::move(message), std::move(remedy)}};
}

Result<std::uint32_t> parse_permits(const std::string& text) {
  std::uint32_t permits = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, permits);
  if (error != std::errc{} || stopped != end || permits == 0) {
    return invalid(fmt::format("--permits: '{}' is not a number of holders", printable(text)),
                   "say how many may hold at once, 1 or more");
  }
  return permits;
}

Error named(std::string_view option, Error error) {
  error.message = fmt::format("{}: {}", option, error.message);
  return error;
}

}  // namespace

void add_lock_arguments(CLI::App& command, LockArguments& arguments) {
  command.add_option("NAME", arguments.name, "The lock: 1 to 512 bytes of UTF-8")->required();
  command.add_option("--ttl", arguments.ttl, "Lifetime of the lease, 100ms to 24h (default 30s)")
      ->type_name("TIME");
  command
      .add_option(
          "--wait", arguments.wait, "How long to queue: forever, 10s, or 0 (default forever)")
      ->type_name("TIME");
  auto* shared = command.add_flag("--shared", arguments.shared, "Hold it together with others");
  auto* permits =
      command
          .add_option(
              "--permits", arguments.permits, "Allow up to N holders, all giving the same N")
          ->type_name("N")
          ->excludes(shared);
  command
      .add_flag("--writer",
                arguments.writer,
                "Let no other writer of NAME between the two steps of an upgrade")
      ->excludes(shared)
      ->excludes(permits);
  command
      .add_option("--lock-delay",
                  arguments.lock_delay,
                  "Keep the lock from others this long if the holder vanishes (default 0)")
      ->type_name("TIME");
  command.add_option("--label", arguments.label, "Text shown to whoever looks at the lock")
      ->type_name("TEXT");
}

Result<Millis> duration_option(std::string_view option, std::string_view text) {
  auto parsed = parse_duration(text);
  if (!parsed) return Unexpected{named(option, parsed.error())};
  return parsed;
}

Result<Owner> owner_option(std::string_view text, std::string_view option) {
  const auto owner = Owner::parse(text);
  if (owner) return *owner;
  return invalid(fmt::format("{}: not an owner id", option),
                 "give the 32 hexadecimal digits `acquire` printed");
}

Result<AcquireOptions> to_acquire_options(const LockArguments& arguments) {
  AcquireOptions options;
  const auto ttl = duration_option("--ttl", arguments.ttl);
  if (!ttl) return Unexpected{ttl.error()};
  options.ttl = *ttl;
  const auto wait = parse_wait(arguments.wait);
  if (!wait) return Unexpected{named("--wait", wait.error())};
  options.wait = *wait;
  const auto lock_delay = duration_option("--lock-delay", arguments.lock_delay);
  if (!lock_delay) return Unexpected{lock_delay.error()};
  options.lock_delay = *lock_delay;
  if (!is_printable(arguments.label)) {
    return invalid("--label: not UTF-8 without control characters", "correct the text");
  }
  options.label = arguments.label;
  if (arguments.shared) options.mode = Mode::shared;
  if (!arguments.permits.empty()) {
    const auto permits = parse_permits(arguments.permits);
    if (!permits) return Unexpected{permits.error()};
    options.mode = Mode::permit;
    options.permits = *permits;
  }
  return options;
}

std::string describe(const Contender& contender) {
  std::string text = fmt::format("{} pid {}, since {}",
                                 printable(contender.host),
                                 contender.pid,
                                 wall_time(contender.since_ms));
  if (!contender.label.empty()) text += fmt::format(", \"{}\"", printable(contender.label));
  return text;
}

Error with_holder(const AcquireError& error, std::string_view name) {
  Error result = error;
  if (error.code == Errc::busy || error.code == Errc::timeout) {
    result.message = error.code == Errc::busy
                         ? fmt::format("'{}' is held", name)
                         : fmt::format("waited in vain for '{}', which is held", name);
    if (error.holder) result.message += " by " + describe(*error.holder);
  }
  return result;
}

}  // namespace holdfast::cli
