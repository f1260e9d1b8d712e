// DriverBed: a PostgresDriver in an Env of its own, for a test on another thread.

#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "engines/postgres/driver/postgres_driver.h"
#include "tests/servers/env_bed.h"

namespace holdfast::postgres {

using servers::get;
using servers::kBound;

/// A statement without a name, which is never prepared. `sql` lives for the whole test.
SharedCall plain(const char* sql, std::vector<Value> args = {});

/// `a|b` for a row, `;` between rows, `-` for NULL; `!sqlstate` of a refusal; `?code` of an error.
std::string shown(const Result<Answer>& answer);
Error error_of(const Result<Answer>& answer);

/// Of a URL that is right.
PostgresTarget target_of(const std::string& url);

/// Thread safety: its members are called by the test's thread.
class DriverBed {
 public:
  explicit DriverBed(const std::string& url, PostgresDriverSettings settings = {});
  ~DriverBed();
  DriverBed(const DriverBed&) = delete;
  DriverBed& operator=(const DriverBed&) = delete;

  runtime::AsioEnv& env() { return *env_; }
  /// To be used within on_env().
  std::shared_ptr<PostgresDriver>& driver() { return driver_; }

  /// Runs `work` between tasks of the Env and waits for it.
  void on_env(const std::function<void()>& work) { servers::run_on(*env_, work); }

  std::future<Result<Answer>> send(SharedCall call, Duration within = kBound);
  /// All of them in one turn of the loop.
  std::vector<std::future<Result<Answer>>> send_all(const std::vector<SharedCall>& calls,
                                                    Duration within = kBound);
  Result<Answer> ask(SharedCall call, Duration within = kBound);
  Result<Answer> ask(const char* sql) { return ask(plain(sql)); }
  /// Repeats what can be repeated until it is answered.
  std::string insist(const char* sql);

  PostgresPort::Direct direct();
  PostgresDriver::Stats stats();

 private:
  std::unique_ptr<runtime::AsioEnv> env_;
  std::shared_ptr<PostgresDriver> driver_;
};

/// A session of a bed, and what it told.
class BedSession {
 public:
  explicit BedSession(DriverBed& bed, Duration within = kBound);
  /// Ends it.
  ~BedSession();
  BedSession(const BedSession&) = delete;
  BedSession& operator=(const BedSession&) = delete;

  /// Null when it has ended. To be used within DriverBed::on_env().
  std::unique_ptr<PostgresSession>& session() { return session_; }

  std::future<Result<Answer>> send(SharedCall call, Duration within = kBound);
  Result<Answer> ask(SharedCall call, Duration within = kBound);
  Result<Answer> ask(const char* sql) { return ask(plain(sql)); }
  std::int32_t backend();

  /// The next event of this kind, waited for; those before are dropped. Aborts when none comes.
  SessionEvent next(SessionEvent::Kind kind) { return box_->next(kind); }
  /// Ends it, as its owner does.
  void end();

 private:
  using Box = servers::EventBox<SessionEvent>;

  DriverBed& bed_;
  std::shared_ptr<Box> box_{std::make_shared<Box>()};
  std::unique_ptr<PostgresSession> session_;
};

}  // namespace holdfast::postgres
