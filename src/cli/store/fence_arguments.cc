#include "cli/store/fence_arguments.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/decimal.h"
#include "base/invalid.h"
#include "cli/text.h"
#include "core/fence.h"

namespace holdfast::cli {
namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

Result<Token> parse_token(const std::string& text) {
  const auto number = parse_decimal<std::uint64_t>(text);
  if (number && *number >= 1 && *number <= Token::kMax) return Token{*number};
  return invalid(fmt::format("--token: '{}' is not a token", printable(text)),
                 "give the token of a lease, as 'acquire' prints it: 1 to 2^53 - 1");
}

bool is_fingerprint(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// The owner itself, or its fingerprint, which is all that others know.
Result<std::string> parse_owner(const std::string& text) {
  if (is_fingerprint(text)) return text;
  if (const auto owner = Owner::parse(text)) return owner->fingerprint();
  return invalid("--owner: neither an owner id nor a fingerprint",
                 "give the 32 hexadecimal digits 'acquire' printed, or the 16 of 'show'");
}

Result<std::string> owner_of(const FenceArguments& arguments) {
  if (arguments.owner) return parse_owner(*arguments.owner);
  const auto owner = environment("HOLDFAST_OWNER");
  if (!owner || environment("HOLDFAST_TOKEN") != arguments.token) return std::string{};
  return parse_owner(*owner);
}

Result<std::string> lock_of(const FenceArguments& arguments,
                            std::string_view resource,
                            LockDefault lock_default) {
  if (arguments.lock) return *arguments.lock;
  if (auto lock = environment("HOLDFAST_LOCK")) return std::move(*lock);
  if (lock_default == LockDefault::resource) return std::string{resource};
  return invalid("which lock protects the file is not known", "give its name with --lock");
}

Result<Sequencer> as_typed(const FenceArguments& arguments,
                           std::string_view resource,
                           LockDefault lock_default) {
  const auto token = parse_token(*arguments.token);
  if (!token) return Unexpected{token.error()};
  auto owner = owner_of(arguments);
  if (!owner) return Unexpected{std::move(owner).error()};
  auto lock = lock_of(arguments, resource, lock_default);
  if (!lock) return Unexpected{std::move(lock).error()};
  return Sequencer{.domain = {},
                   .name = std::move(*lock),
                   .mode = arguments.shared ? Mode::shared : Mode::exclusive,
                   .token = *token,
                   .owner_fp = std::move(*owner)};
}

Result<Sequencer> from_environment(const std::string& text) {
  auto sequencer = parse_sequencer(text);
  if (!sequencer) {
    return invalid("HOLDFAST_SEQUENCER: " + sequencer.error().message,
                   "correct or unset it; --unfenced leaves it out");
  }
  if (sequencer->mode == Mode::permit) {
    return invalid("a permit is not fenced: several of its tokens are valid at once",
                   "run under an exclusive or shared lock, or use --unfenced or --if-version");
  }
  return sequencer;
}

}  // namespace

void add_fence_arguments(CLI::App& command, FenceArguments& arguments) {
  auto* token =
      command.add_option("--token", arguments.token, "The token of the lease to act under")
          ->type_name("T");
  command.add_option("--owner", arguments.owner, "The owner of that lease, or its fingerprint")
      ->type_name("ID")
      ->needs(token);
  command.add_option("--lock", arguments.lock, "The lock, if its name is not the resource's")
      ->type_name("NAME")
      ->needs(token);
  command.add_flag("--shared", arguments.shared, "The lease is a shared one: it may only read")
      ->needs(token);
}

Result<std::optional<Sequencer>> who_acts(const FenceArguments& arguments,
                                          std::string_view resource,
                                          LockDefault lock_default) {
  const auto inherited = environment("HOLDFAST_SEQUENCER");
  if (!arguments.token && (arguments.unfenced || !inherited)) return std::optional<Sequencer>{};
  auto holder =
      arguments.token ? as_typed(arguments, resource, lock_default) : from_environment(*inherited);
  if (!holder) return Unexpected{std::move(holder).error()};
  if (auto good = core::to_holder(*holder); !good) {
    return Unexpected{static_cast<const Error&>(good.error())};
  }
  return std::optional{std::move(*holder)};
}

Result<std::uint64_t> number_option(std::string_view option, std::string_view text) {
  const auto number = parse_decimal<std::uint64_t>(text);
  if (number && *number <= Token::kMax) return *number;
  return invalid(fmt::format("{}: '{}' is not a number", option, printable(text)),
                 "give a whole number from 0 to 2^53 - 1");
}

}  // namespace holdfast::cli
