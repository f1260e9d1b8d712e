#include "sim/world/sim_env.h"

#include <cstring>
#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

Duration drawn_uptime(Chance& chance) {
  return chance.between(std::chrono::minutes{1}, std::chrono::hours{1000});
}

}  // namespace

SimEnv::SimEnv(Scheduler& scheduler, std::uint64_t seed)
    : scheduler_{scheduler}, chance_{seed}, clock_{drawn_uptime(chance_)} {
  scheduler_.enlist(*this);
}

SimEnv::~SimEnv() { kill(); }

Owner SimEnv::fresh_owner() {
  Owner::Bytes bytes{};
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = chance_.draw();
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return Owner{bytes};
}

void SimEnv::spawn(Task<void> task) {
  if (!killed_) ready_.run_or_add(TaskStep{std::move(task), *this});
}

void SimEnv::post(std::function<void()> work) {
  if (!killed_) ready_.run_or_add(std::move(work));
}

void SimEnv::kill() {
  if (!killed_) scheduler_.dismiss(*this);
  killed_ = true;
  parked_.clear();
  ready_.clear();
}

ParkingId SimEnv::park(TimePoint due, Parked task) {
  due_changed_ = true;
  return parked_.park(due, std::move(task));
}

void SimEnv::wake(ParkingId id) {
  due_changed_ = true;
  parked_.wake(id);
}

Task<void> SimEnv::pausing() {
  constexpr auto requeue = [](Parked task) { std::move(task).resume(); };
  co_await suspend(requeue);
}

bool SimEnv::poll() {
  if (next_due() <= scheduler_.now()) {
    due_changed_ = true;
    parked_.wake_due(now());
  }
  bool ran = false;
  while (!paused_ && !ready_.empty()) {
    if (strikes(Moment::any)) break;
    ready_.run_one();
    ran = true;
  }
  return ran;
}

TimePoint SimEnv::true_time(TimePoint local) const { return clock_.when(local.time_since_epoch()); }

void SimEnv::set_clock(TimePoint shows) {
  HOLDFAST_ASSERT(!parked_.next_due());
  clock_.step(shows - now());
}

void SimEnv::set_clock_rate(ClockRate rate) {
  clock_.set_rate(scheduler_.now(), rate);
  due_changed_ = true;
}

void SimEnv::look_at_clock() const {
  const auto due = parked_.next_due();
  due_ = !due || *due == TimePoint::max() ? TimePoint::max() : true_time(*due);
  due_changed_ = false;
}

}  // namespace holdfast::sim
