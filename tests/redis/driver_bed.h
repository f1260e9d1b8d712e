// DriverBed: a RedisDriver in an Env of its own, for a test on another thread.

#pragma once

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/redis/driver/redis_driver.h"
#include "runtime/asio_env.h"

namespace holdfast::redis {

/// Far longer than anything here takes; a test that needs it fails.
inline constexpr std::chrono::seconds kBound{30};

/// Returns its first argument.
extern const Script kEcho;

template <class T>
T get(std::future<T> future) {
  // A broken promise tells more than a test that hangs.
  if (future.wait_for(kBound) != std::future_status::ready) std::abort();
  return future.get();
}

/// Whether the condition comes true, however often it must be asked.
template <class Condition>
bool eventually(Condition condition) {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    if (condition()) return true;
  }
  return false;
}

/// Thread safety: its members are called by the test's thread.
class DriverBed {
 public:
  using Answer = std::future<Result<Reply>>;

  explicit DriverBed(RedisTarget target, RedisDriverSettings settings = {});
  ~DriverBed();
  DriverBed(const DriverBed&) = delete;
  DriverBed& operator=(const DriverBed&) = delete;

  runtime::AsioEnv& env() { return *env_; }
  /// To be used within on_env().
  std::shared_ptr<RedisDriver>& driver() { return driver_; }

  /// Runs `work` between tasks of the Env and waits for it.
  void on_env(const std::function<void()>& work);

  /// Runs the script that echoes, or any command.
  Answer echo(const std::string& text, Duration within = kBound);
  Answer command(std::vector<std::string> words, Duration within = kBound);
  /// All within one turn of the loop.
  std::vector<Answer> echo_many(int count, Duration within = kBound);
  /// To be used within on_env().
  std::vector<Answer> echo_many_now(int count, Duration within);

  RedisDriver::Stats stats();

 private:
  Answer echo_now(const std::string& text, Duration within);

  std::unique_ptr<runtime::AsioEnv> env_;
  std::shared_ptr<RedisDriver> driver_;
};

/// What a subscription brought, for a test that waits for it.
class Ear {
 public:
  OnHeard on_heard();
  /// The next thing heard: "listening", or "message:" and the text.
  std::string next();

 private:
  struct Box {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> heard;
  };
  std::shared_ptr<Box> box_{std::make_shared<Box>()};
};

}  // namespace holdfast::redis
