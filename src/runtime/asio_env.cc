#include "runtime/asio_env.h"

#include <boost/asio/post.hpp>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/secret.h"
#include "base/signals_blocked.h"

namespace holdfast::runtime {

Result<std::unique_ptr<AsioEnv>> AsioEnv::create() {
  const auto look = longest_look(std::getenv("HOLDFAST_SPIN_US"));
  if (!look) return Unexpected{look.error()};
  std::unique_ptr<AsioEnv> env{new AsioEnv{*look}};
  if (auto started = env->start(); !started) return Unexpected{started.error()};
  return env;
}

Result<void> AsioEnv::start() {
  if (auto opened = turn_.open(); !opened) return opened;
  if (auto opened = timer_.open([this] { wake_due(); }); !opened) return opened;
  turn_.watch(timer_.descriptor());
  try {
    const SignalsBlocked blocked;
    thread_ = std::thread{[this] { keep_running(); }};
  } catch (const std::system_error& error) {
    return Unexpected{Error{Errc::io_error, std::string{"no thread: "} + error.what()}};
  }
  return {};
}

AsioEnv::~AsioEnv() {
  HOLDFAST_ASSERT(!runs_here());
  context_.stop();
  turn_.end();
  if (thread_.joinable()) thread_.join();
  parked_.clear();
}

std::uint64_t AsioEnv::draw() {
  std::uint64_t bits = 0;
  const Owner secret = holdfast::fresh_owner();
  std::memcpy(&bits, secret.bytes().data(), sizeof bits);
  return bits;
}

Owner AsioEnv::fresh_owner() { return holdfast::fresh_owner(); }

void AsioEnv::keep_running() {
  while (turn_.take_as_keeper()) {
    while (run_what_comes() == Turn::kept) {
      if (context_.stopped()) return;
      turn_.forget_happenings();
      if (context_.poll() == 0 && turn_.leave_as_keeper()) break;
    }
  }
}

AsioEnv::Turn AsioEnv::run_what_comes() {
  while (!context_.stopped() && !turn_.keeper_may_leave()) {
    const TimePoint leave = turn_.keeper_must_stay() ? TimePoint::max() : now() + LoopTurn::kLeave;
    if (run_one(leave, keepers_spin_) == 0) return Turn::kept;
    if (turn_.give_to_caller()) return Turn::given;
  }
  return Turn::kept;
}

bool AsioEnv::spawn_and_wait(Task<void> task, Awaited& answer, TimePoint limit) {
  if (turn_.take_as_caller(answer)) {
    launch_as_caller(std::move(task));
  } else {
    launch(std::move(task));
    turn_.stir();
    answer.sleep_until(limit);
    if (!turn_.stop_waiting(answer)) return answer.is_known();
  }
  run_until_known(answer, limit);
  while (!turn_.leave_as_caller()) context_.poll();
  return answer.is_known();
}

void AsioEnv::run_until_known(const Awaited& answer, TimePoint limit) {
  while (!answer.is_known() && run_one(limit, callers_spin_) > 0) {
  }
}

std::size_t AsioEnv::run_one(TimePoint limit, SpinGauge& spin) {
  if (context_.poll_one() > 0) return 1;
  const TimePoint begun = now();
  if (begun >= limit) return 0;
  if (spin.pays()) return look_for_a_moment(begun, spin) ? 1 : sleep_and_run_one(limit);
  const std::size_t ran = sleep_and_run_one(limit);
  spin.slept(now() - begun);
  return ran;
}

// Gives way each time: the server may be waiting for this very processor.
bool AsioEnv::look_for_a_moment(TimePoint begun, SpinGauge& spin) {
  for (TimePoint gave_way = begun; gave_way - begun < spin.most();) {
    std::this_thread::yield();
    const TimePoint back = now();
    if (back - gave_way >= SpinGauge::kCrowded) spin.crowded();
    gave_way = back;
    if (context_.poll_one() == 0) continue;
    spin.found();
    return true;
  }
  spin.missed();
  return false;
}

std::size_t AsioEnv::sleep_and_run_one(TimePoint limit) {
  return limit == TimePoint::max() ? context_.run_one() : context_.run_one_for(limit - now());
}

void AsioEnv::spawn(Task<void> task) {
  launch(std::move(task));
  if (!runs_here()) turn_.stir();
}

void AsioEnv::launch(Task<void> task) {
  TaskStep first{std::move(task), *this};
  if (runs_here()) {
    first();
  } else {
    run_later(std::move(first));
  }
}

void AsioEnv::run_later(TaskStep step) {
  boost::asio::post(context_, [this, step = std::move(step)]() mutable {
    step();
    if (!after_tasks_.empty() && ++tasks_in_turn_ >= kTasksInTurn) end_turn();
  });
}

// What a caller sends when nobody else sends anything leaves with its task: the loop is not asked
// what else there is.
void AsioEnv::launch_as_caller(Task<void> task) {
  auto start = [this, task = std::move(task)]() mutable {
    gathers_ = turn_.caller_is_alone();
    launch(std::move(task));
    gathers_ = false;
    end_turn();
  };
  boost::asio::post(context_, std::move(start));
}

void AsioEnv::run_after_tasks(std::function<void()> work) {
  after_tasks_.push_back(std::move(work));
  if (gathers_ || std::exchange(turn_ends_, true)) return;
  boost::asio::post(context_, [this] {
    turn_ends_ = false;
    end_turn();
  });
}

void AsioEnv::end_turn() {
  tasks_in_turn_ = 0;
  for (const auto& work : std::exchange(after_tasks_, {})) work();
}

void AsioEnv::post(std::function<void()> work) {
  boost::asio::post(context_, std::move(work));
  if (!runs_here()) turn_.stir();
}

void AsioEnv::post_quietly(std::function<void()> work) {
  boost::asio::post(context_, std::move(work));
  if (!runs_here()) turn_.stir_quietly();
}

ParkingId AsioEnv::park(TimePoint due, Parked task) {
  const auto before = parked_.next_due();
  const ParkingId id = parked_.park(due, std::move(task));
  if (!before || due < *before) timer_.set(due);
  return id;
}

// The timer is left as it is: going off too early costs one look at what is due.
void AsioEnv::wake(ParkingId id) { parked_.wake(id); }

void AsioEnv::wake_due() {
  parked_.wake_due(now());
  if (const auto next = parked_.next_due()) timer_.set(*next);
}

}  // namespace holdfast::runtime
