#include "sim/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sim/sim_env.h"

namespace holdfast::sim {
namespace {

// More rounds than this without time passing is a livelock of the code under test.
constexpr int kRoundsMax = 100'000;

}  // namespace

void Scheduler::after(Duration delay, std::function<void()> event) {
  HOLDFAST_ASSERT(delay >= Duration{0});
  events_.emplace(Key{now_ + delay, next_sequence_++}, std::move(event));
}

void Scheduler::settle() {
  for (int round = 0;; ++round) {
    HOLDFAST_ASSERT(round < kRoundsMax);
    bool ran = false;
    for (SimEnv* env : envs_) ran = env->poll() || ran;
    if (!ran) return;
  }
}

std::optional<TimePoint> Scheduler::next_event() const {
  std::optional<TimePoint> next;
  if (!events_.empty()) next = events_.begin()->first.first;
  for (const SimEnv* env : envs_) {
    const auto due = env->next_due();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

bool Scheduler::step(TimePoint end) {
  settle();
  const auto next = next_event();
  if (!next || *next > end) {
    now_ = end;
    return false;
  }
  now_ = std::max(now_, *next);
  // A sleeper that is due wakes in poll(); a message arrives here.
  if (!events_.empty() && events_.begin()->first.first <= now_) {
    auto event = events_.extract(events_.begin());
    event.mapped()();
  }
  return true;
}

void Scheduler::advance(Duration duration) {
  const TimePoint end = now_ + duration;
  while (step(end)) {
  }
}

bool Scheduler::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = now_ + limit;
  for (settle(); !done(); settle()) {
    if (!step(end)) return done();
  }
  return true;
}

}  // namespace holdfast::sim
