#include "runtime/asio_env.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/secret.h"
#include "base/signals_blocked.h"

namespace holdfast::runtime {

Result<std::unique_ptr<AsioEnv>> AsioEnv::create() {
  std::unique_ptr<AsioEnv> env{new AsioEnv};
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
    do {
      run_what_comes();
      if (context_.stopped()) return;
      turn_.forget_happenings();
    } while (context_.poll() > 0 || !turn_.leave_as_keeper());
  }
}

void AsioEnv::run_what_comes() {
  while (!context_.stopped() && !turn_.keeper_may_leave()) {
    if (turn_.keeper_must_stay()) {
      context_.run_one();
    } else if (context_.run_one_for(LoopTurn::kLeave) == 0) {
      return;
    }
  }
}

bool AsioEnv::spawn_and_wait(Task<void> task, Awaited& answer, TimePoint limit) {
  if (turn_.take_as_caller(answer)) {
    launch_as_caller(std::move(task));
    run_until_known(answer, limit);
    while (!turn_.leave_as_caller()) context_.poll();
    return answer.is_known();
  }
  launch(std::move(task));
  turn_.stir();
  const bool known = answer.sleep_until(limit);
  answer.count_out();
  return known;
}

void AsioEnv::run_until_known(const Awaited& answer, TimePoint limit) {
  while (!answer.is_known()) {
    if (limit == TimePoint::max()) {
      context_.run_one();
      continue;
    }
    const Duration left = limit - now();
    if (left <= Duration{0}) return;
    context_.run_one_for(left);
  }
}

void AsioEnv::spawn(Task<void> task) {
  launch(std::move(task));
  if (!runs_here()) turn_.stir();
}

void AsioEnv::launch(Task<void> task) {
  const auto finished = [](const std::exception_ptr& thrown) { HOLDFAST_ASSERT(!thrown); };
  boost::asio::co_spawn(context_, std::move(task), finished);
}

// What a caller sends when nobody else sends anything leaves with its task: the loop is not asked
// what else there is.
void AsioEnv::launch_as_caller(Task<void> task) {
  auto start = [this, task = std::move(task)]() mutable {
    gathers_ = turn_.caller_is_alone();
    launch(std::move(task));
    gathers_ = false;
    for (const auto& work : std::exchange(after_tasks_, {})) work();
  };
  boost::asio::post(context_, std::move(start));
}

void AsioEnv::run_after_tasks(std::function<void()> work) {
  if (gathers_) {
    after_tasks_.push_back(std::move(work));
  } else {
    boost::asio::post(context_, std::move(work));
  }
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
