#include "engines/postgres/ear.h"

#include <utility>

#include "engines/postgres/lease_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

constexpr BackoffPolicy kReopen{.first = Millis{50}, .max = Millis{2000}};

/// From 1 to 2^62.
std::int64_t fresh_number(Env& env) { return static_cast<std::int64_t>(env.draw() >> 2) + 1; }

bool is_true(const Result<Rows>& rows) {
  return rows && rows->size() == 1 && rows->front().size() == 1 && rows->front()[0] == "t";
}

}  // namespace

Ear::Ear(Env& env, std::shared_ptr<PostgresPort> port, Millis timeout, Hearing hearing)
    : env_{env}, port_{std::move(port)}, timeout_{timeout}, hearing_{std::move(hearing)} {}

Ear::~Ear() = default;

void Ear::open() {
  if (state_ != State::closed || port_->direct() != PostgresPort::Direct::yes) return;
  state_ = State::open;
  line_ = port_->open(env_.now() + timeout_, [weak = weak_from_this()](const SessionEvent& event) {
    if (const auto self = weak.lock()) self->hear(event);
  });
}

void Ear::hear(const SessionEvent& event) {
  switch (event.kind) {
    case SessionEvent::Kind::connected:
      return attend();
    case SessionEvent::Kind::notified:
      // What comes before the number is known belongs to it all the same.
      return hearing_.on_notice(event.payload);
    case SessionEvent::Kind::ended:
      return end();
  }
}

void Ear::attend() {
  const std::int64_t number = fresh_number(env_);
  auto on_answer = [weak = weak_from_this(), number](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self || self->state_ != State::open) return;
    if (!is_true(rows_of(std::move(answer)))) return self->end();
    self->session_ = number;
    self->attempts_ = 0;
    self->hearing_.on_change();
  };
  line_->send(share({.statement = &kAttendStatement, .args = {std::to_string(number)}}),
              env_.now() + timeout_,
              std::move(on_answer));
}

// The session stays until another is opened: this may be a call of its own.
void Ear::end() {
  if (std::exchange(state_, State::resting) != State::open) return;
  const Duration delay = Millis{1} + backoff_delay(kReopen, attempts_++, env_.draw());
  env_.spawn(open_again(weak_from_this(), env_, delay));
  if (std::exchange(session_, std::nullopt)) hearing_.on_change();
}

Task<void> Ear::open_again(std::weak_ptr<Ear> ear, Env& env, Duration delay) {
  co_await env.sleep_for(delay);
  const auto self = ear.lock();
  if (!self) co_return;
  self->state_ = State::closed;
  self->open();
}

}  // namespace holdfast::postgres
