#include "sim/sim_env.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "base/assert.h"

namespace holdfast::sim {

SimEnv::SimEnv(Scheduler& scheduler, std::uint64_t seed)
    : scheduler_{scheduler},
      chance_{seed},
      clock_offset_{chance_.between(std::chrono::minutes{1}, std::chrono::hours{1000})} {
  context_.emplace(1);
  guard_.emplace(context_->get_executor());
  scheduler_.enlist(*this);
}

SimEnv::~SimEnv() {
  scheduler_.dismiss(*this);
  kill();
}

Owner SimEnv::fresh_owner() {
  Owner::Bytes bytes{};
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = chance_.draw();
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return Owner{bytes};
}

void SimEnv::spawn(Task<void> task) {
  if (!context_) return;
  const auto finished = [](const std::exception_ptr& thrown) { HOLDFAST_ASSERT(!thrown); };
  boost::asio::co_spawn(*context_, std::move(task), finished);
}

void SimEnv::post(std::function<void()> work) {
  if (context_) boost::asio::post(*context_, std::move(work));
}

void SimEnv::kill() {
  parked_.clear();
  guard_.reset();
  context_.reset();
}

bool SimEnv::poll() {
  if (paused_ || !context_) return false;
  parked_.wake_due(now());
  return context_->poll() > 0;
}

std::optional<TimePoint> SimEnv::next_due() const {
  const auto due = parked_.next_due();
  if (paused_ || !due) return std::nullopt;
  return true_time(*due);
}

}  // namespace holdfast::sim
