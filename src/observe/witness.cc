#include "observe/witness.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/fork.h"

namespace holdfast::observe {
namespace {

/// How often a thread looks at the clock for holds that nobody waited for.
constexpr Duration kTimedEvery = std::chrono::milliseconds{1};

/// After a wait, how many releases are remembered in case they end another.
constexpr std::uint32_t kAttention = 1000;

thread_local constinit TimePoint timed_at{};

std::size_t hash(std::string_view name) { return std::hash<std::string_view>{}(name); }

}  // namespace

Witness::Witness(std::shared_ptr<Observer> observer, std::string engine, Clock clock)
    : observer_{std::move(observer)},
      quick_{clock == Clock::engine ? Registry::of(*observer_) : nullptr},
      engine_{std::move(engine)},
      clock_{clock},
      generation_{fork_generation()} {}

bool Witness::in_a_child() const noexcept { return fork_generation() != generation_; }

void Witness::tell(Event event) noexcept {
  event.engine = engine_;
  observer_->observe(event);
}

Event Witness::about(const LeaseCore& lease, EventKind kind) const {
  Event event;
  event.kind = kind;
  event.mode = lease.mode();
  event.name = lease.name();
  event.engine = engine_;
  event.token = lease.token();
  return event;
}

void Witness::answered(const AcquireResult& result,
                       std::string_view name,
                       const AcquireOptions& options,
                       TimePoint asked_at) noexcept {
  if (quick_ != nullptr && result && attention_.load(std::memory_order_relaxed) == 0) {
    LeaseCore& lease = **result;
    if (lease.arrival().met == core::Met::nobody) {
      lease.witnessed_by(*this, Ending::untold, lease.name().size());
      return quick_->count_quick_grant();
    }
  }
  Event event;
  event.mode = options.mode;
  event.name = name;
  event.engine = engine_;
  event.trace_id = options.trace_id;
  if (result) return granted(*result, event, asked_at);
  event.kind = EventKind::refused;
  event.error = &result.error();
  if (clock_ == Clock::here) event.waited = BootClock::now() - asked_at;
  observer_->observe(event);
}

void Witness::granted(const std::shared_ptr<LeaseCore>& lease,
                      Event& event,
                      TimePoint asked_at) noexcept {
  if (clock_ == Clock::here) time_here(lease, asked_at);
  const Arrival& arrival = lease->arrival();
  event.token = lease->token();
  event.waited = arrival.granted_at - arrival.asked_at;
  event.contended = arrival.met == core::Met::others;
  if (event.contended) {
    attention_.store(kAttention, std::memory_order_relaxed);
    if (event.mode == Mode::exclusive) event.hand_over = hand_over(event.name, arrival);
  }
  const bool timed = clock_ == Clock::here || attention_.load(std::memory_order_relaxed) > 0;
  lease->witnessed_by(*this, timed ? Ending::told : Ending::untold, lease->name().size());
  observer_->observe(event);
}

void Witness::time_here(const std::shared_ptr<LeaseCore>& lease, TimePoint asked_at) noexcept {
  lease->arrived({asked_at, BootClock::now(), lease->arrival().met});
  // A listener costs as much as an acquisition at `local:`, and nothing beside a round trip. What
  // is behind a prefix may be told of after the lease in front of it has gone.
  lease->on_event([this, weak = std::weak_ptr{lease}](const LeaseEvent& event) {
    if (const auto alive = weak.lock()) changed(*alive, event);
  });
}

std::optional<Duration> Witness::hand_over(std::string_view name, const Arrival& arrival) noexcept {
  const std::size_t wanted = hash(name);
  const Release& release = release_of(wanted);
  if (release.name.load() != wanted) return std::nullopt;
  const TimePoint at = release.at.load();
  // Another lock of the same slot may have come in between.
  if (at <= arrival.asked_at || release.name.load() != wanted) return std::nullopt;
  // An engine reads the clock before it looks whose turn it is.
  return std::max(arrival.granted_at - at, Duration{0});
}

TimePoint Witness::ending(const LeaseCore& lease) noexcept {
  timed_at = BootClock::now();
  const std::uint32_t attention = attention_.load(std::memory_order_relaxed);
  if (attention > 0) {
    attention_.store(attention - 1, std::memory_order_relaxed);
    const std::size_t name = hash(lease.name());
    Release& release = release_of(name);
    release.at.store(timed_at);
    release.name.store(name);
  }
  return timed_at;
}

void Witness::ended(LeaseCore& lease,
                    std::optional<ReleaseOutcome> outcome,
                    TimePoint ending_at) noexcept {
  if (ending_at == TimePoint{}) {
    if (lease.arrival().asked_at - timed_at >= kTimedEvery) {
      ending_at = timed_at = BootClock::now();
    } else if (quick_ != nullptr && outcome == ReleaseOutcome::released) {
      return quick_->count_quick_release();
    }
  }
  if (outcome != ReleaseOutcome::released && in_a_child()) return;
  if (outcome == ReleaseOutcome::already_lost) lose(lease, lease.loss_reason());
  Event event = about(lease, outcome ? EventKind::released : EventKind::detached);
  if (event.kind == EventKind::released) event.outcome = *outcome;
  if (ending_at != TimePoint{}) event.held = ending_at - lease.arrival().granted_at;
  observer_->observe(event);
}

void Witness::renewed(LeaseCore& lease, const Result<void>& answer) noexcept {
  if (in_a_child()) return;
  Event event = about(lease, EventKind::renewed);
  if (!answer) event.error = &answer.error();
  tell(event);
  if (!answer && answer.error().code == Errc::lost) lose(lease, lease.loss_reason());
}

void Witness::kept(const LeaseCore& lease) noexcept {
  Event event = about(lease, EventKind::renewed);
  event.name = lease.shown_name();
  tell(event);
}

void Witness::changed(LeaseCore& lease, const LeaseEvent& event) noexcept {
  if (event.state == LeaseState::lost) return lose(lease, event.reason);
  if (event.state == LeaseState::jeopardy) tell(about(lease, EventKind::jeopardy));
}

void Witness::lose(LeaseCore& lease, LossReason reason) noexcept {
  // A child's copy holds nothing, and so loses nothing.
  if (in_a_child() || !lease.loss_is_news()) return;
  Event event = about(lease, EventKind::lost);
  event.reason = reason == LossReason::none ? LossReason::gone : reason;
  tell(event);
}

}  // namespace holdfast::observe
