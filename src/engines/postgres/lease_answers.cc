#include "engines/postgres/lease_answers.h"

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "core/claim_text.h"
#include "core/holder_note.h"

namespace holdfast::postgres {
namespace {

std::string_view text_of(const Row& row, std::size_t column) {
  return column < row.size() && row[column] ? std::string_view{*row[column]} : std::string_view{};
}

std::optional<Token> parse_token(std::string_view text) {
  const auto value = parse_decimal<std::uint64_t>(text);
  if (!value || *value > Token::kMax) return std::nullopt;
  return Token{*value};
}

Millis millis_of(std::string_view text) {
  return Millis{std::max<std::int64_t>(parse_decimal<std::int64_t>(text).value_or(0), 0)};
}

/// Takes the first word, and the space after it, off the text.
std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

std::optional<core::Fate> fate_of(std::string_view word) {
  if (word == "renewed") return core::Fate::renewed;
  if (word == "gone") return core::Fate::gone;
  if (word == "broken") return core::Fate::broken;
  if (word == "failed_over") return core::Fate::failed_over;
  return std::nullopt;
}

Contender contender_of(const Row& row, const core::Claim& claim) {
  Contender contender = holder_of(text_of(row, 1), text_of(row, 4), text_of(row, 2));
  contender.mode = claim.mode;
  // One who waits as long as its session lasts has no end of its own.
  contender.ttl = millis_of(row[5] ? text_of(row, 5) : text_of(row, 6));
  return contender;
}

}  // namespace

Unexpected<Error> senseless(std::string_view statement) {
  return Unexpected{Error{Errc::corrupt,
                          "the server's answer to " + std::string{statement} + " makes no sense",
                          "check who made the functions of schema holdfast"}};
}

Contender holder_of(std::string_view owner, std::string_view token, std::string_view note) {
  Contender holder{};
  if (const auto known = Owner::parse(owner)) holder.owner_fp = known->fingerprint();
  holder.token = parse_token(token).value_or(Token{0});
  core::describe(holder, core::decode_note(note));
  return holder;
}

Result<core::Asked> read_asked(const Row& row) {
  if (row.size() != 4) return senseless("acquire");
  const std::string_view outcome = text_of(row, 0);
  if (outcome == "granted") {
    const auto token = parse_token(text_of(row, 1));
    return token ? Result<core::Asked>{core::Asked{.token = *token}} : senseless("acquire");
  }
  if (outcome == "permits") {
    return Unexpected{Error{Errc::invalid_argument,
                            "the lock is in use with another number of permits",
                            "use the same number of permits everywhere"}};
  }
  if (outcome != "busy" && outcome != "queued") return senseless("acquire");
  core::Asked asked{
      .standing = text_of(row, 3) == "t" ? core::Standing::first : core::Standing::none,
      .change = millis_of(text_of(row, 2))};
  if (row[1]) {
    std::string_view note = text_of(row, 1);
    const std::string_view token = next_word(note);
    const std::string_view owner = next_word(note);
    asked.holder = holder_of(owner, token, note);
    // The change comes once the lease is surely over, a millisecond later than what is left of it.
    asked.holder->ttl = std::max(asked.change - Millis{1}, Millis{0});
  }
  return asked;
}

Result<std::optional<Confirmed>> read_confirm(const Rows& rows) {
  if (rows.size() != 1 || rows[0].size() != 2) return senseless("confirm");
  if (!rows[0][0]) return std::optional<Confirmed>{};
  const auto token = parse_token(text_of(rows[0], 0));
  if (!token) return senseless("confirm");
  return std::optional{Confirmed{.token = *token, .left = millis_of(text_of(rows[0], 1))}};
}

Result<core::Removal> read_release(const Rows& rows) {
  if (rows.size() != 1 || rows[0].size() != 1) return senseless("release");
  return text_of(rows[0], 0) == "t" ? core::Removal::removed : core::Removal::was_absent;
}

Result<std::vector<core::Fate>> read_renew(const Rows& rows, std::size_t count) {
  if (rows.size() != count) return senseless("renew");
  std::vector<core::Fate> fates;
  fates.reserve(count);
  for (const Row& row : rows) {
    const auto fate = fate_of(text_of(row, 0));
    if (!fate) return senseless("renew");
    fates.push_back(*fate);
  }
  return fates;
}

std::optional<Notice> read_notice(std::string_view text) {
  using Kind = Notice::Kind;
  constexpr std::array<std::string_view, 3> kWords{"granted", "first", "broken"};
  constexpr std::array kKinds{Kind::granted, Kind::first, Kind::broken};
  const auto word = std::ranges::find(kWords, next_word(text));
  const auto owner = Owner::parse(next_word(text));
  if (word == kWords.end() || !owner) return std::nullopt;
  const Kind kind = kKinds[static_cast<std::size_t>(word - kWords.begin())];
  if (kind != Kind::granted)
    return Notice{.kind = kind, .owner = *owner, .change = millis_of(text)};
  const auto token = parse_token(text);
  if (!token) return std::nullopt;
  return Notice{.kind = kind, .owner = *owner, .token = *token};
}

LockInfo read_lock(std::string name, const std::vector<Row>& rows) {
  LockInfo info{};
  info.name = std::move(name);
  for (const Row& row : rows) {
    if (row.size() != 7) continue;
    const std::string_view kind = text_of(row, 0);
    if (kind == "delay") {
      info.delay = millis_of(text_of(row, 5));
      continue;
    }
    const core::Claim claim = core::read_claim(text_of(row, 3));
    if (info.holders.empty() && info.waiters.empty()) info.mode = claim.mode;
    info.permits = std::max(info.permits, claim.permits);
    auto& with = kind == "holder" ? info.holders : info.waiters;
    with.push_back(contender_of(row, claim));
  }
  return info;
}

}  // namespace holdfast::postgres
