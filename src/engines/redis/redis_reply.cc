#include "engines/redis/redis_reply.h"

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "core/holder_note.h"

namespace holdfast::redis {
namespace {

std::optional<Token> parse_token(std::string_view text) {
  const auto value = parse_decimal<std::uint64_t>(text);
  if (!value || *value > Token::kMax) return std::nullopt;
  return Token{*value};
}

Unexpected<Error> senseless(std::string_view script) {
  return Unexpected{Error{Errc::corrupt,
                          "the server's answer to " + std::string{script} + " makes no sense",
                          "check what else writes under this prefix"}};
}

core::Fate fate_of(std::int64_t number) {
  if (number == 1) return core::Fate::renewed;
  return number == 2 ? core::Fate::broken : core::Fate::gone;
}

bool has_kinds(const Reply& reply, std::initializer_list<Reply::Kind> kinds) {
  return reply.kind == Reply::Kind::array && reply.items.size() == kinds.size() &&
         std::equal(
             kinds.begin(), kinds.end(), reply.items.begin(), [](auto kind, const auto& item) {
               return item.kind == kind;
             });
}

}  // namespace

std::string lock_value(const Owner& owner, Token token) {
  return owner.to_string() + ':' + std::to_string(token.value()) + ':';
}

bool is_held_together(std::string_view value) { return value.starts_with(":holdfast:"); }

namespace {

/// What follows the owner.
std::string_view after_owner(std::string_view value) {
  const std::size_t colon = value.find(':');
  return colon == std::string_view::npos ? std::string_view{} : value.substr(colon + 1);
}

}  // namespace

std::optional<Token> token_of(std::string_view value) {
  const std::string_view rest = after_owner(value);
  return parse_token(rest.substr(0, rest.find(':')));
}

Contender holder_of(std::string_view value, Millis ttl) {
  const auto owner = Owner::parse(value.substr(0, value.find(':')));
  const std::string_view rest = after_owner(value);
  const auto token = token_of(value);
  Contender holder{};
  holder.ttl = std::max(ttl, Millis{0});
  if (!owner || !token) {
    holder.foreign = true;
    return holder;
  }
  holder.owner_fp = owner->fingerprint();
  holder.token = *token;
  const std::size_t end = rest.find(':');
  if (end != std::string_view::npos && end + 1 < rest.size()) {
    core::describe(holder, core::decode_note(rest.substr(end + 1)));
  }
  return holder;
}

bool is_busy(const Reply& reply) {
  using Kind = Reply::Kind;
  return has_kinds(reply, {Kind::integer, Kind::text, Kind::integer}) ||
         has_kinds(reply, {Kind::integer, Kind::text, Kind::integer, Kind::integer});
}

Result<Token, AcquireError> read_acquire(const Reply& reply) {
  using Kind = Reply::Kind;
  if (reply.kind == Kind::error) return Unexpected{error_of(reply.text)};
  if (has_kinds(reply, {Kind::integer, Kind::text}) && reply.items[0].integer == 1) {
    if (const auto token = parse_token(reply.items[1].text)) return *token;
  }
  if (is_busy(reply)) {
    AcquireError busy{Errc::busy};
    busy.holder = holder_of(reply.items[1].text, Millis{reply.items[2].integer});
    return Unexpected{std::move(busy)};
  }
  return senseless("acquire");
}

Result<core::Asked> read_asked(const Reply& reply) {
  using Kind = Reply::Kind;
  if (reply.kind == Kind::error) return Unexpected{error_of(reply.text)};
  if (has_kinds(reply, {Kind::integer, Kind::text}) && reply.items[0].integer == 1) {
    if (const auto token = parse_token(reply.items[1].text)) return core::Asked{.token = *token};
  }
  if (has_kinds(reply, {Kind::integer}) && reply.items[0].integer == 3) {
    return Unexpected{Error{Errc::invalid_argument,
                            "the lock is in use with another number of permits",
                            "use the same number of permits everywhere"}};
  }
  if (!is_busy(reply)) return senseless("acquire");
  const bool first = reply.items.size() == 4 && reply.items[3].integer == 1;
  const Millis change{reply.items[2].integer};
  core::Asked asked{.standing = first ? core::Standing::first : core::Standing::none,
                    .change = change};
  const std::string& value = reply.items[1].text;
  if (!is_held_together(value)) asked.holder = holder_of(value, change);
  return asked;
}

std::optional<Call> read_call(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto owner = Owner::parse(text.substr(0, space));
  if (!owner) return std::nullopt;
  Call call{.owner = *owner};
  if (space == text.size()) return call;
  const std::string_view rest = text.substr(space + 1);
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const auto token = parse_token(rest.substr(0, end));
  const auto stamp = parse_decimal<Duration::rep>(rest.substr(std::min(end + 1, rest.size())));
  if (!token || !stamp) return std::nullopt;
  call.hand_over = Call::HandOver{.token = *token, .sent_at = TimePoint{Duration{*stamp}}};
  return call;
}

std::vector<Owner> read_broken(std::string_view text) {
  std::vector<Owner> owners;
  while (!text.empty()) {
    const std::string_view mark = text.substr(0, text.find(' '));
    if (const auto owner = Owner::parse(mark.substr(0, mark.find(':')))) owners.push_back(*owner);
    text.remove_prefix(std::min(mark.size() + 1, text.size()));
  }
  return owners;
}

std::string stamp_of(TimePoint time) { return std::to_string(time.time_since_epoch().count()); }

Result<std::vector<core::Fate>> read_renew(const Reply& reply, std::size_t count) {
  if (reply.kind == Reply::Kind::error) return Unexpected{error_of(reply.text)};
  if (reply.kind != Reply::Kind::array || reply.items.size() != count) return senseless("renew");
  std::vector<core::Fate> fates;
  fates.reserve(count);
  for (const Reply& item : reply.items) {
    fates.push_back(fate_of(item.integer));
  }
  return fates;
}

Result<core::Removal> read_release(const Reply& reply) {
  if (reply.kind == Reply::Kind::error) return Unexpected{error_of(reply.text)};
  if (reply.kind != Reply::Kind::integer) return senseless("release");
  return reply.integer == 1 ? core::Removal::removed : core::Removal::was_absent;
}

Error error_of(std::string_view message) {
  struct Meaning {
    std::string_view word;
    Errc code;
  };
  constexpr std::array kMeanings{
      Meaning{"WRONGTYPE", Errc::corrupt},
      Meaning{"HOLDFAST", Errc::corrupt},
      Meaning{"NOPERM", Errc::denied},
      Meaning{"NOAUTH", Errc::denied},
      Meaning{"OOM", Errc::no_space},
      Meaning{"LOADING", Errc::unavailable},
      Meaning{"READONLY", Errc::unavailable},
      Meaning{"MASTERDOWN", Errc::unavailable},
      Meaning{"BUSY", Errc::unavailable},
      Meaning{"MISCONF", Errc::unavailable},
  };
  // Of a command in a script, which Redis does not put into its usual words.
  constexpr std::string_view kNotForThisUser = "The user executing the script can't";
  if (message.find(kNotForThisUser) != std::string_view::npos) {
    return {Errc::denied, "Redis: " + std::string{message}};
  }
  const std::string_view word = message.substr(0, message.find(' '));
  const auto meaning = std::ranges::find(kMeanings, word, &Meaning::word);
  const Errc code = meaning == kMeanings.end() ? Errc::internal : meaning->code;
  return {code, "Redis: " + std::string{message}};
}

}  // namespace holdfast::redis
