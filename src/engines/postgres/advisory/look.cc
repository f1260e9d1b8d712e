#include "engines/postgres/advisory/look.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "core/holder_note.h"
#include "engines/postgres/advisory/advisory_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres::advisory {
namespace {

using namespace std::chrono_literals;

// A note is written a moment after the grant: how often, and how long in all, to look for it.
constexpr Duration kLookAgain = 15ms;
constexpr Duration kPatience = 500ms;

std::int64_t number(const Value& value) {
  return value ? parse_decimal<std::int64_t>(*value).value_or(0) : 0;
}

bool is_true(const Value& value) { return value == "t"; }

bool lacks_note(const Row& row) {
  return is_true(row[kGranted]) && is_true(row[kOurs]) && !row[kOwner];
}

Seen read(const Row& row) {
  Seen seen{.contender = {}, .backend = row[kPid].value_or(""), .session = row[kSession]};
  Contender& contender = seen.contender;
  contender.mode = row[kMode] == "ShareLock" ? Mode::shared : Mode::exclusive;
  contender.foreign = !is_true(row[kOurs]);
  contender.ttl = Millis{number(row[kLeft])};
  contender.token = Token{static_cast<std::uint64_t>(number(row[kToken]))};
  contender.owner_fp = row[kOwner].value_or("");
  core::describe(contender, core::decode_note(row[kNoteText].value_or("")));
  if (contender.foreign) {
    contender.label = row[kApplication].value_or("");
    contender.since_ms = number(row[kSince]);
  }
  return seen;
}

void add(Sight& sight, const Row& row) {
  if (sight.full_name.empty()) sight.full_name = row[kName].value_or("");
  auto& side = is_true(row[kGranted]) ? sight.holders : sight.waiters;
  side.push_back(read(row));
}

/// Of a call that changes nothing: whether it ran makes no difference.
Result<Rows> looked(Result<Rows> rows) {
  if (!rows && rows.error().code == Errc::unknown_outcome) rows.error().code = Errc::unavailable;
  if (!rows) return rows;
  const auto is_short = [](const Row& row) { return row.size() < kColumns; };
  if (std::ranges::any_of(*rows, is_short)) {
    return Unexpected{Error{Errc::corrupt, "the server's list of locks makes no sense"}};
  }
  return rows;
}

Task<Result<Rows>> look(Env& env,
                        std::shared_ptr<PostgresPort> port,
                        std::vector<Value> args,
                        TimePoint answer_by) {
  const SharedCall call = share({&kLook, std::move(args)});
  const TimePoint give_up_at = std::min(answer_by, env.now() + kPatience);
  for (;;) {
    auto answer = co_await port->answered(call, answer_by);
    auto rows = looked(rows_of(std::move(answer)));
    const bool complete = !rows || std::ranges::none_of(*rows, lacks_note);
    if (complete || env.now() + kLookAgain >= give_up_at) co_return rows;
    co_await env.sleep_for(kLookAgain);
  }
}

}  // namespace

LockInfo Sight::info(std::string name) const {
  LockInfo info{};
  info.name = std::move(name);
  for (const Seen& seen : holders) info.holders.push_back(seen.contender);
  for (const Seen& seen : waiters) info.waiters.push_back(seen.contender);
  if (!waiters.empty()) info.mode = waiters.front().contender.mode;
  if (!holders.empty()) info.mode = holders.front().contender.mode;
  return info;
}

Task<Result<Sight>> look_at(Env& env,
                            std::shared_ptr<PostgresPort> port,
                            std::int64_t key,
                            TimePoint answer_by) {
  std::vector<Value> args{std::to_string(key), ""};
  const auto rows = co_await look(env, std::move(port), std::move(args), answer_by);
  if (!rows) co_return Unexpected{rows.error()};
  Sight sight;
  for (const Row& row : *rows) add(sight, row);
  co_return sight;
}

Task<Result<std::vector<Sight>>> look_at_all(Env& env,
                                             std::shared_ptr<PostgresPort> port,
                                             std::string beginning,
                                             TimePoint answer_by) {
  std::vector<Value> args{std::nullopt, std::move(beginning)};
  const auto rows = co_await look(env, std::move(port), std::move(args), answer_by);
  if (!rows) co_return Unexpected{rows.error()};
  std::vector<Sight> sights;
  for (const Row& row : *rows) {
    // Gone again before it wrote a note.
    if (!row[kName]) continue;
    if (sights.empty() || sights.back().full_name != *row[kName]) sights.emplace_back();
    add(sights.back(), row);
  }
  co_return sights;
}

}  // namespace holdfast::postgres::advisory
