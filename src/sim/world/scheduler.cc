#include "sim/world/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sim/world/sim_env.h"

namespace holdfast::sim {
namespace {

// More rounds than this without time passing is a livelock of the code under test.
constexpr int kRoundsMax = 100'000;

}  // namespace

std::uint32_t Scheduler::plan(Duration delay) {
  HOLDFAST_ASSERT(delay >= Duration{0});
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  heap_.push_back({now_ + delay, next_sequence_++, slot});
  std::ranges::push_heap(heap_, Later{});
  return slot;
}

void Scheduler::clear() {
  heap_.clear();
  free_slots_.clear();
  const auto doomed = std::exchange(slots_, {});
}

TimePoint Scheduler::settle() {
  for (int round = 0;; ++round) {
    HOLDFAST_ASSERT(round < kRoundsMax);
    bool ran = false;
    TimePoint next = TimePoint::max();
    for (SimEnv* env : envs_) {
      if (env->stirs()) ran = env->poll() || ran;
      next = std::min(next, env->next_due());
    }
    if (!ran) return heap_.empty() ? next : std::min(next, heap_.front().when);
  }
}

void Scheduler::happen() {
  std::ranges::pop_heap(heap_, Later{});
  const std::uint32_t slot = heap_.back().slot;
  heap_.pop_back();
  Work event = std::move(slots_[slot]);
  free_slots_.push_back(slot);
  event();
}

bool Scheduler::step(TimePoint next, TimePoint end) {
  if (next > end || next == TimePoint::max()) {
    now_ = end;
    return false;
  }
  now_ = std::max(now_, next);
  // A sleeper that is due wakes in poll(); a message arrives here.
  if (!heap_.empty() && heap_.front().when <= now_) happen();
  return true;
}

void Scheduler::advance(Duration duration) {
  const TimePoint end = now_ + duration;
  while (step(settle(), end)) {
  }
}

bool Scheduler::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = now_ + limit;
  for (;;) {
    const TimePoint next = settle();
    if (done()) return true;
    if (!step(next, end)) return done();
  }
}

}  // namespace holdfast::sim
