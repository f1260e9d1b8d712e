#include "runtime/asio_env.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/secret.h"

namespace holdfast::runtime {

Result<std::unique_ptr<AsioEnv>> AsioEnv::create() {
  std::unique_ptr<AsioEnv> env{new AsioEnv};
  if (auto started = env->start(); !started) return Unexpected{started.error()};
  return env;
}

Result<void> AsioEnv::start() {
  if (auto opened = timer_.open([this] { wake_due(); }); !opened) return opened;
  try {
    thread_ = std::thread{[this] { context_.run(); }};
  } catch (const std::system_error& error) {
    return Unexpected{Error{Errc::io_error, std::string{"no thread: "} + error.what()}};
  }
  return {};
}

AsioEnv::~AsioEnv() {
  HOLDFAST_ASSERT(std::this_thread::get_id() != thread_.get_id());
  context_.stop();
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

void AsioEnv::spawn(Task<void> task) {
  const auto finished = [](const std::exception_ptr& thrown) { HOLDFAST_ASSERT(!thrown); };
  boost::asio::co_spawn(context_, std::move(task), finished);
}

void AsioEnv::post(std::function<void()> work) { boost::asio::post(context_, std::move(work)); }

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
