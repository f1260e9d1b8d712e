// DriverBed: an EtcdDriver in an Env of its own, for a test on another thread.

#pragma once

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/etcd/driver/etcd_driver.h"
#include "runtime/asio_env.h"
#include "tests/etcd/etcd_cluster.h"

namespace holdfast::etcd {

/// Far longer than anything here takes; a test that needs it fails.
inline constexpr std::chrono::seconds kBound{60};

template <class T>
T get(std::future<T> future) {
  // A broken promise tells more than a test that hangs.
  if (future.wait_for(kBound) != std::future_status::ready) std::abort();
  return future.get();
}

/// The endpoints of all nodes, or of those.
EtcdTarget target_of(const EtcdCluster& cluster);
EtcdTarget target_at(std::uint16_t port);

/// Thread safety: its members are called by the test's thread.
class DriverBed {
 public:
  explicit DriverBed(const EtcdTarget& target, EtcdDriverSettings settings = {});
  ~DriverBed();
  DriverBed(const DriverBed&) = delete;
  DriverBed& operator=(const DriverBed&) = delete;

  runtime::AsioEnv& env() { return *env_; }
  /// To be used within on_env().
  std::shared_ptr<EtcdDriver>& driver() { return driver_; }

  /// Runs `work` between tasks of the Env and waits for it.
  void on_env(const std::function<void()>& work);

  std::future<Result<TxnAnswer>> commit(Txn txn, Duration within = kBound);
  std::future<Result<TxnAnswer>> put(const std::string& key,
                                     const std::string& value,
                                     Duration within = kBound);
  std::future<Result<LeaseAnswer>> grant(LeaseId lease, Seconds ttl, Duration within = kBound);
  std::future<Result<LeaseAnswer>> keep_alive(LeaseId lease, Duration within = kBound);

  EtcdDriver::Stats stats();

 private:
  std::unique_ptr<runtime::AsioEnv> env_;
  std::shared_ptr<EtcdDriver> driver_;
};

/// What a watch brought, for a test that waits for it.
class Ear {
 public:
  OnWatch on_watch();
  /// The next thing heard: "watching", "compacted", "refused: …", "put k=v" or "erased k".
  std::string next();

 private:
  struct Box {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> heard;
  };
  std::shared_ptr<Box> box_{std::make_shared<Box>()};
};

template <class T>
Error error_of(const Result<T>& result) {
  return result ? Error{Errc::internal, "answered"} : result.error();
}

}  // namespace holdfast::etcd
