// Line: a connection that is made again when it breaks, for as long as somebody needs it.
//
// The base of what uses one connection: requests (RequestLine) and subscriptions
// (SubscriptionLine).
//
// Thread safety: none; it belongs to the Env's thread, except abandon().
// Lifetime: shared. Whoever owns it abandons it and closes it on the Env's thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "engines/redis/driver/connection.h"
#include "runtime/end_registry.h"

namespace holdfast::redis {

/// What both lines of a driver need.
struct LineContext {
  runtime::AsioEnv& env;
  std::shared_ptr<const RedisTarget> target;
  std::shared_ptr<TlsContext> tls;
  BackoffPolicy backoff{};
};

class Line : protected Connection::User, public runtime::EndsWithContext {
 public:
  explicit Line(LineContext context);
  ~Line() override;

  /// Connects unless that is done or under way; after a failure, no sooner than the backoff says.
  void connect();

  /// From now on nobody is called back. Any thread.
  void abandon() { abandoned_.store(true, std::memory_order_relaxed); }

  /// Closes the connection for good and drops what was to be called back.
  virtual void close();

  void end_with_context() final;

  const RedisTarget& target() const { return *context_.target; }

  /// How many connections have been ready, and how many of those broke.
  std::uint64_t connections() const { return connections_; }
  std::uint64_t interruptions() const { return interruptions_; }

 protected:
  /// The connection is ready.
  virtual void opened() = 0;
  /// It broke, or could not be made.
  virtual void interrupted(const Failure& failure) = 0;
  /// Whether a connection is worth having.
  virtual bool needs_connection() const = 0;

  runtime::AsioEnv& env() const { return context_.env; }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  bool is_ready() const { return ready_; }
  /// Null unless it takes output now.
  Connection* taking_output() const;
  /// Ends the connection as broken.
  void give_up(const std::string& what);
  /// The server does its work: the next interruption is a first one.
  void prove_alive() { attempts_ = 0; }
  /// Why there is no connection. Empty when none has failed since the last was ready.
  const std::optional<Failure>& last_failure() const { return last_failure_; }

 private:
  void retry();
  void on_ready() final;
  void on_broken(Failure failure) final;

  LineContext context_;
  std::atomic<bool> abandoned_{false};
  bool closed_{false};
  std::shared_ptr<Connection> connection_;
  std::optional<Failure> last_failure_;
  std::uint32_t attempts_{0};
  TimePoint not_before_{};
  DueTimer retry_timer_;
  bool ready_{false};
  std::uint64_t connections_{0};
  std::uint64_t interruptions_{0};
};

}  // namespace holdfast::redis
