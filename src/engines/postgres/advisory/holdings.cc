#include "engines/postgres/advisory/holdings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "core/validity.h"
#include "engines/postgres/advisory/advisory_statements.h"
#include "engines/postgres/array_text.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres::advisory {
namespace {

using namespace std::chrono_literals;

constexpr Duration kMoment = 20ms;

// How long the server is asked why a session ended: to be told late is worse than not to know why.
constexpr Duration kAskedFor = 300ms;
constexpr BackoffPolicy kAskAgain{.first = Millis{5}, .max = Millis{50}};

/// The notes of one line, column by column.
struct Notes {
  std::shared_ptr<Line> line;
  std::vector<Value> keys{};
  std::vector<Value> names{};
  std::vector<Value> owners{};
  std::vector<Value> texts{};
  std::vector<Value> tokens{};

  void add(const Held& held) {
    keys.emplace_back(std::to_string(held.use.key()));
    names.emplace_back(held.full_name);
    owners.emplace_back(held.owner_fp);
    texts.emplace_back(held.note_text);
    tokens.emplace_back(std::to_string(held.token.value()));
  }

  Call call() const {
    return {&kNote,
            {array_text(keys),
             array_text(names),
             array_text(owners),
             array_text(texts),
             array_text(tokens)}};
  }
};

Notes& notes_of(std::vector<Notes>& all, const std::shared_ptr<Line>& line) {
  const auto found = std::ranges::find(all, line, &Notes::line);
  return found == all.end() ? all.emplace_back(Notes{.line = line}) : *found;
}

}  // namespace

Call Held::unlock() const {
  const Statement* const how = mode == Mode::shared ? &kUnlockShared : &kUnlockExclusive;
  return {how, {std::to_string(use.key())}};
}

void Held::leave() const {
  use->tell(unlock());
  forget();
}

void Held::forget() const {
  if (note == Note::none) return;
  use->tell({&kForget, {std::to_string(use.key()), owner_fp}});
}

Holdings::Holdings(Env& env, std::shared_ptr<PostgresPort> port)
    : env_{env}, port_{std::move(port)} {}

void Holdings::add(const Owner& owner, Held held) {
  const bool noted = held.note == Held::Note::written;
  const std::shared_ptr<Line> line = held.use.line();
  held_.insert_or_assign(owner, std::move(held));
  // It ended before this task came to know of it.
  if (line->is_over()) return hear_of_end(line);
  if (noted) return;
  fresh_.push_back({.owner = owner, .since = env_.now()});
  if (std::exchange(noting_, true)) return;
  env_.spawn(write_notes_in_time(weak_from_this(), env_));
}

Held* Holdings::find(const Owner& owner) {
  const auto found = held_.find(owner);
  return found == held_.end() ? nullptr : &found->second;
}

std::optional<Held> Holdings::take(const Owner& owner) {
  const auto found = held_.find(owner);
  if (found == held_.end()) return std::nullopt;
  std::optional<Held> held{std::move(found->second)};
  held_.erase(found);
  return held;
}

Task<void> Holdings::write_notes_in_time(std::weak_ptr<Holdings> weak, Env& env) {
  for (;;) {
    co_await env.sleep_for(kMoment);
    const auto self = weak.lock();
    if (!self) co_return;
    self->write_notes();
    if (!self->noting_) co_return;
  }
}

void Holdings::write_notes() {
  const TimePoint now = env_.now();
  std::vector<Notes> all;
  while (!fresh_.empty() && fresh_.front().since + kMoment <= now) {
    Held* const held = find(fresh_.front().owner);
    fresh_.pop_front();
    if (held == nullptr || held->use->is_over()) continue;
    notes_of(all, held->use.line()).add(*held);
    held->note = Held::Note::written;
  }
  for (const Notes& notes : all) notes.line->tell(notes.call());
  noting_ = !fresh_.empty();
}

void Holdings::hear_of_end(const std::shared_ptr<Line>& line) {
  const auto is_on_it = [&](const auto& entry) { return entry.second.use.line() == line; };
  if (std::ranges::none_of(held_, is_on_it)) return;
  env_.spawn(tell_of_end(shared_from_this(), line));
}

Task<void> Holdings::tell_of_end(std::shared_ptr<Holdings> self, std::shared_ptr<Line> line) {
  const LossReason reason = co_await self->explain_end(line);
  std::vector<Owner> owners;
  for (const auto& [owner, held] : self->held_) {
    if (held.use.line() == line) owners.push_back(owner);
  }
  for (const Owner& owner : owners) {
    // First of all: who is told may ask what is held.
    self->held_.erase(owner);
    if (const auto news = self->news_.lock()) news->lost(owner, reason);
  }
}

Task<LossReason> Holdings::explain_end(std::shared_ptr<Line> line) {
  const TimePoint valid_until = core::deadline_of(line->confirmed_at(), line->ttl());
  if (env_.now() >= valid_until) co_return LossReason::expired;
  const SharedCall call = share({&kFate, {std::to_string(line->id())}});
  const TimePoint give_up_at = std::min(valid_until, env_.now() + kAskedFor);
  Result<Rows> rows = Rows{};
  for (std::uint32_t attempt = 0;; ++attempt) {
    auto answer = co_await port_->answered(call, give_up_at);
    rows = rows_of(std::move(answer));
    const Duration delay = backoff_delay(kAskAgain, attempt, env_.draw());
    // Other connections may have ended with the session's.
    if (rows || env_.now() + delay >= give_up_at) break;
    co_await env_.sleep_for(delay);
  }
  if (!rows || rows->empty() || rows->front().size() != 3) co_return LossReason::gone;
  const Row& fate = rows->front();
  if (fate[0] == "t") co_return LossReason::broken;
  if (fate[1] != line->server().timeline) co_return LossReason::failed_over;
  if (fate[2] != line->server().started) co_return LossReason::restarted;
  co_return LossReason::revoked;
}

}  // namespace holdfast::postgres::advisory
