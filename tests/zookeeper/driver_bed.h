// DriverBed: a ZookeeperDriver in an Env of its own, for a test on another thread.

#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>

#include "engines/zookeeper/driver/zookeeper_driver.h"
#include "tests/servers/env_bed.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {

using servers::get;
using servers::kBound;

inline Error error_of(const Result<Answer>& result) {
  return result ? Error{Errc::internal, "answered"} : result.error();
}

/// All nodes of the ensemble, or that one.
ZookeeperTarget target_of(const ZookeeperEnsemble& ensemble);
ZookeeperTarget target_at(std::uint16_t port);

/// Thread safety: its members are called by the test's thread.
class DriverBed {
 public:
  explicit DriverBed(ZookeeperTarget target, ZookeeperDriverSettings settings = {});
  ~DriverBed();
  DriverBed(const DriverBed&) = delete;
  DriverBed& operator=(const DriverBed&) = delete;

  runtime::AsioEnv& env() { return *env_; }
  /// To be used within on_env().
  std::unique_ptr<ZookeeperDriver>& driver() { return driver_; }

  /// Runs `work` between tasks of the Env and waits for it.
  void on_env(const std::function<void()>& work) { servers::run_on(*env_, work); }

 private:
  std::unique_ptr<runtime::AsioEnv> env_;
  std::unique_ptr<ZookeeperDriver> driver_;
};

/// A session of a bed, and what it told.
class BedSession {
 public:
  BedSession(DriverBed& bed, SessionAsk ask);
  /// Leaves it.
  ~BedSession();
  BedSession(const BedSession&) = delete;
  BedSession& operator=(const BedSession&) = delete;

  /// Null when it has been left. To be used within DriverBed::on_env().
  std::unique_ptr<ZookeeperSession>& session() { return session_; }

  std::future<Result<Answer>> send(Request request, Duration within = kBound);
  Result<Answer> ask(Request request, Duration within = kBound);
  /// Repeats what can be repeated until it is answered.
  Answer insist(const Request& request);

  /// The next event of this kind, waited for; those before are dropped. Aborts when none comes.
  SessionEvent next(SessionEvent::Kind kind) { return box_->next(kind); }
  /// Whether there was one since the last looked at.
  bool was_told(SessionEvent::Kind kind) { return box_->was_told(kind); }

 private:
  using Box = servers::EventBox<SessionEvent>;

  DriverBed& bed_;
  std::shared_ptr<Box> box_{std::make_shared<Box>()};
  std::unique_ptr<ZookeeperSession> session_;
};

}  // namespace holdfast::zookeeper
