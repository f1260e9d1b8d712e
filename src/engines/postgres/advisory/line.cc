#include "engines/postgres/advisory/line.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "engines/postgres/advisory/advisory_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres::advisory {
namespace {

using namespace std::chrono_literals;

// How often the server looks whether one that waits is still there.
constexpr Millis kLookMin = 100ms;
constexpr Millis kLookMax = 1s;

/// Positive: PostgreSQL's bigint has no more.
std::int64_t fresh_id(Env& env) { return static_cast<std::int64_t>(env.draw() >> 1); }

Error needs_newer(const Error& refusal) {
  return {Errc::unsupported,
          "advisory locks that end with their holder need PostgreSQL 14: " + refusal.message,
          "use PostgreSQL 14 or newer"};
}

Value text(const Row& row, std::size_t column) {
  return column < row.size() ? row[column] : std::nullopt;
}

Token token(const Row& row, std::size_t column) {
  return Token{parse_decimal<std::uint64_t>(text(row, column).value_or("")).value_or(0)};
}

}  // namespace

std::shared_ptr<Line> Line::open(
    Env& env, PostgresPort& port, Millis ttl, Role role, TimePoint connected_by, OnEnd on_end) {
  const auto line = std::make_shared<Line>(env, ttl, role, std::move(on_end));
  line->connected_by_ = connected_by;
  line->session_ = port.open(connected_by, [weak = std::weak_ptr{line}](const SessionEvent& event) {
    if (const auto self = weak.lock()) self->hear(event);
  });
  return line;
}

Line::Line(Env& env, Millis ttl, Role role, OnEnd on_end)
    : env_{env},
      ttl_{ttl},
      role_{role},
      on_end_{std::move(on_end)},
      id_{fresh_id(env)},
      idle_since_{env.now()} {}

void Line::hear(const SessionEvent& event) {
  if (event.kind == SessionEvent::Kind::connected) begin();
  if (event.kind == SessionEvent::Kind::ended) {
    end(event.error.value_or(Error{Errc::unavailable, "the server ended the session"}));
  }
}

void Line::begin() {
  const auto probe_after = std::max<std::chrono::seconds>(
      std::chrono::duration_cast<std::chrono::seconds>(ttl_ / 3), std::chrono::seconds{1});
  const Millis look = std::clamp(ttl_ / 3, kLookMin, kLookMax);
  Call call{&kBegin,
            {std::to_string(id_),
             std::to_string(ttl_.count()),
             std::to_string(probe_after.count()),
             std::to_string(look.count())}};
  const TimePoint sent_at = env_.now();
  const auto on_answer = [weak = weak_from_this(), sent_at](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self) return;
    if (answer) self->confirmed_at_ = sent_at;
    const auto* const refusal = answer ? std::get_if<Refusal>(&*answer) : nullptr;
    const bool too_old = refusal != nullptr && refusal->sqlstate == "42704";
    if (too_old) return self->end(needs_newer(error_of(*refusal)));
    self->begun(rows_of(std::move(answer)));
  };
  session_->send(share(std::move(call)), connected_by_, on_answer);
}

void Line::begun(Result<Rows> rows) {
  if (!rows) return end(rows.error());
  const Row row = rows->empty() ? Row{} : rows->front();
  server_ = {.timeline = text(row, 0).value_or(""), .started = text(row, 1).value_or("")};
  backend_ = text(row, 2).value_or("");
  reserved_ = token(row, 4);
  if (state_ == State::connecting) state_ = State::ready;
  changed();
}

void Line::end(Error why) {
  if (is_over()) return;
  state_ = State::over;
  why_ = std::move(why);
  changed();
  // It may be what calls this.
  env_.post([self = shared_from_this()] { self->session_.reset(); });
  if (const OnEnd told = std::exchange(on_end_, nullptr)) told(shared_from_this());
}

void Line::close() {
  on_end_ = nullptr;
  end({Errc::unavailable, "closed"});
}

void Line::remove(std::int64_t key) {
  keys_.erase(key);
  if (keys_.empty()) idle_since_ = env_.now();
}

Task<void> Line::change_until(TimePoint due) {
  const auto alarm = std::make_shared<Alarm>(env_);
  waiting_.push_back(alarm);
  co_await alarm->wait_until(due);
  std::erase(waiting_, alarm);
}

void Line::changed() {
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& alarm : waiting) alarm->ring();
}

Task<Result<void>> Line::ready(TimePoint answer_by) {
  const auto self = shared_from_this();
  while (state_ == State::connecting && env_.now() < answer_by) co_await change_until(answer_by);
  if (state_ == State::ready) co_return Result<void>{};
  if (is_over()) co_return Unexpected{why_};
  co_return Unexpected{Error{Errc::unavailable, "the server opens no session in time"}};
}

void Line::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  if (!is_over()) return session_->send(std::move(call), answer_by, std::move(on_answer));
  const auto told = std::make_shared<OnAnswer>(std::move(on_answer));
  env_.post([told, why = why_]() mutable { (*told)(Unexpected{why}); });
}

void Line::tell(Call call) {
  if (is_over()) return;
  session_->send(share(std::move(call)), env_.now() + ttl_, [](const Result<Answer>&) {});
}

Task<Result<Rows>> Line::ask(SharedCall call, TimePoint answer_by) {
  const auto self = shared_from_this();
  if (is_over()) co_return Unexpected{why_};
  const TimePoint sent_at = env_.now();
  auto answer = co_await session_->answered(call, answer_by);
  if (answer) confirmed_at_ = std::max(confirmed_at_, sent_at);
  co_return rows_of(std::move(answer));
}

Task<Result<void>> Line::reserve(Token wanted, TimePoint answer_by) {
  const auto self = shared_from_this();
  const SharedCall call = share({&kReserve, {std::to_string(wanted.value())}});
  const auto rows = co_await ask(call, answer_by);
  if (!rows) co_return Unexpected{rows.error()};
  reserved_ = std::max(reserved_, token(rows->empty() ? Row{} : rows->front(), 0));
  if (has_reserved(wanted)) co_return Result<void>{};
  co_return Unexpected{Error{Errc::corrupt, "the server reserves other tokens than it was asked"}};
}

void Line::beat() {
  if (is_over() || std::exchange(beating_, true)) return;
  const TimePoint sent_at = env_.now();
  const auto on_answer = [weak = weak_from_this(), sent_at](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self) return;
    self->beating_ = false;
    if (answer) self->confirmed_at_ = std::max(self->confirmed_at_, sent_at);
    self->changed();
  };
  static const SharedCall beat = share({&kBeat, {}});
  // Nothing that relies on it lasts longer than a TTL without an answer.
  session_->send(beat, sent_at + ttl_, on_answer);
}

Task<bool> Line::beaten(TimePoint since, TimePoint answer_by) {
  const auto self = shared_from_this();
  while (!is_over() && confirmed_at_ < since && env_.now() < answer_by) {
    beat();
    co_await change_until(answer_by);
  }
  co_return !is_over() && confirmed_at_ >= since;
}

}  // namespace holdfast::postgres::advisory
