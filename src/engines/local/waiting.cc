#include "engines/local/waiting.h"

#include <algorithm>
#include <array>

namespace holdfast::local {

Request to_request(const AcquireOptions& options, Waiting::Wake wake) {
  return {.claim = {.mode = options.mode, .permits = options.permits},
          .kind = options.kind,
          .ttl = options.ttl,
          .lock_delay = options.lock_delay,
          .label = options.label,
          .trace_id = options.trace_id,
          .by_mail = wake == Waiting::Wake::mail};
}

TimePoint patience(TimePoint now, Millis wait) {
  constexpr auto kAges = std::chrono::hours{24 * 365 * 10};
  return wait >= kAges ? kNever : now + wait;
}

Waiting::Waiting(Engine& engine,
                 std::string_view name,
                 const AcquireOptions& options,
                 Wake wake,
                 const Ticket& ticket,
                 TimePoint until)
    : engine_{engine},
      name_{name},
      label_{options.label},
      trace_id_{options.trace_id},
      options_{options},
      wake_{wake},
      ticket_{ticket},
      session_entry_{ticket.session_entry},
      until_{until},
      contender_{ticket.contender} {
  options_.label = label_;
  options_.trace_id = trace_id_;
}

Waiting::Progress Waiting::advance(TimePoint now, const std::stop_token& stop) {
  while (true) {
    heard_ = engine_.signal_of(ticket_).load();
    standing_ = engine_.look(ticket_, now);
    switch (standing_.state) {
      case Standing::State::granted:
        if (engine_.confirm(ticket_, now)) return ticket_;
        break;
      case Standing::State::permits_differ:
        engine_.leave(ticket_);
        return AcquireError{Errc::invalid_argument,
                            "\"" + name_ + "\" is in use with another number of permits",
                            "use the same number of permits everywhere"};
      case Standing::State::out:
        break;
      case Standing::State::waiting:
        if (has_expired(engine_.file().at<Session>(ticket_.session).lifeline)) break;
        if (stop.stop_requested()) return give_up(Errc::cancelled, now);
        if (now < until_) return std::monostate{};
        return give_up(options_.wait == Millis{0} ? Errc::busy : Errc::timeout, now);
    }
    if (auto error = enter_anew(now)) return *error;
    now = BootClock::now();
  }
}

std::optional<AcquireError> Waiting::enter_anew(TimePoint now) {
  engine_.leave(ticket_);
  auto ticket = engine_.enter(name_, to_request(options_, wake_), now);
  if (!ticket) return AcquireError{ticket.error()};
  ticket_ = *ticket;
  contender_.store(ticket_.contender);
  return std::nullopt;
}

AcquireError Waiting::give_up(Errc code, TimePoint now) {
  const auto holder = engine_.describe(standing_.in_the_way, now);
  engine_.leave(ticket_);
  std::string message = "\"" + name_ + "\" is held";
  if (holder) message += " by " + holder->host + " pid " + std::to_string(holder->pid);
  if (code == Errc::cancelled) message = "waiting for \"" + name_ + "\" was cancelled";
  if (code == Errc::timeout) message += " and did not come free in time";
  AcquireError error{code, std::move(message)};
  error.holder = holder;
  return error;
}

void Waiting::sleep() {
  const auto& signal = engine_.signal_of(ticket_);
  constexpr int kSpins = 64;
  for (int i = 0; i < kSpins; ++i) {
    if (signal.load(std::memory_order_acquire) != heard_) return;
    __builtin_ia32_pause();
  }
  std::array<FutexWait, kFutexWaitsMax> words{};
  words[0] = {.word = &signal, .expected = heard_};
  std::copy_n(standing_.lives.begin(), standing_.lives_count, words.begin() + 1);
  futex_wait_any(std::span{words}.first(1 + standing_.lives_count), look_again());
}

void Waiting::recheck(TimePoint now) { engine_.recheck(contender_.load(), now); }

}  // namespace holdfast::local
