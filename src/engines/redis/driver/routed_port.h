// RoutedPort: a RedisPort over servers that take over from each other.
//
// A request goes to the server that is in charge of it. One that could not be sent, or was refused
// because another server is in charge, is sent again, after looking who is, until its deadline. One
// that was sent and not answered is not: whoever sent it knows whether that is safe.
//
// The base of ClusterPort and SentinelPort.
//
// Thread safety: every member is called on the Env's thread; the destructor on any.
// Lifetime: the Env outlives it. Requests that wait for a server are dropped with it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "base/due_timer.h"
#include "engines/redis/driver/failure.h"
#include "engines/redis/driver/redirection.h"
#include "engines/redis/driver/redis_driver.h"

namespace holdfast::redis {

class RoutedPort : public RedisPort, public std::enable_shared_from_this<RoutedPort> {
 public:
  struct Stats {
    /// Looks for who is in charge, and how often that was another server than before.
    std::uint64_t looks{0};
    std::uint64_t takeovers{0};
    /// Requests that were sent to another server, or again.
    std::uint64_t redirected{0};
  };

  ~RoutedPort() override = default;

  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) override;

  Stats stats() const { return stats_; }

 protected:
  using Driver = std::shared_ptr<RedisDriver>;

  explicit RoutedPort(runtime::AsioEnv& env);

  /// Who is in charge. Empty: nobody is known to be.
  virtual Driver in_charge(const ScriptCall& call) = 0;
  /// Who is at an address. Empty: nobody can be reached there.
  virtual Driver at(const Address& address) = 0;
  /// `driver` said that another server has the slot.
  virtual void moved(const Redirection& redirection) = 0;
  /// `driver` did not answer, or is not in charge any more.
  virtual void distrust(const RedisDriver& driver) = 0;
  /// Asks who is in charge, and waits until `by` for answers; ends with found() or not_found().
  virtual void look(TimePoint by) = 0;

  /// Looks soon, and not too often.
  void look_soon();
  /// Somebody is in charge: who waits for that goes on.
  void found();
  /// Nobody is known to be. A reason that somebody must do something about is told to who waits at
  /// once; otherwise it is looked again.
  void not_found(Failure failure);

  runtime::AsioEnv& env() const { return env_; }
  Stats& counted() { return stats_; }

 private:
  struct Flight {
    SharedCall call;
    TimePoint answer_by;
    OnAnswer on_answer;
    std::uint32_t attempts{0};
    /// Why it has not been answered so far.
    std::optional<Error> failure{};
  };
  using SharedFlight = std::shared_ptr<Flight>;
  enum class Manner : std::uint8_t { plain, asking };

  void forward(const SharedFlight& flight);
  void send_to(const Driver& driver, const SharedFlight& flight, Manner manner);
  void answered(const Driver& driver, const SharedFlight& flight, Result<Reply> reply);
  void failed(const Driver& driver, const SharedFlight& flight, Error error);
  void redirected(const Driver& driver, const SharedFlight& flight, Redirection to);
  void again_later(const SharedFlight& flight);
  void wait(const SharedFlight& flight, TimePoint until);
  void go_on(const SharedFlight& flight);
  void wake_all();
  void look_now();

  runtime::AsioEnv& env_;
  Stats stats_;
  std::set<ParkingId> waiting_;
  /// Of the last look, if nobody was found.
  std::optional<Failure> failure_;
  bool looking_{false};
  /// Something has happened during the look, which it may have missed.
  bool look_again_{false};
  std::uint32_t failed_looks_{0};
  TimePoint next_look_{};
  DueTimer look_timer_;
};

}  // namespace holdfast::redis
