// Line: one session at the server that holds advisory locks, or waits for one.
//
// The server ends it a TTL after the last statement was answered, and with it frees its locks;
// beat() keeps it. Validity counts from sending the last statement that was answered.
//
// Thread safety: as Env. Lifetime: the Env and the Port outlive it; whoever waits for it
// shares in it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/alarm.h"
#include "base/env.h"
#include "engines/postgres/postgres_port.h"
#include "holdfast/options.h"
#include "holdfast/token.h"

namespace holdfast::postgres::advisory {

/// Which server it was: another one after a restart or a promotion.
struct Server {
  std::string timeline{};
  std::string started{};
};

class Line : public std::enable_shared_from_this<Line> {
 public:
  enum class Role : std::uint8_t {
    /// For everything that need not wait.
    home,
    /// For one that waits, and then holds.
    spare,
  };
  using OnEnd = std::function<void(const std::shared_ptr<Line>&)>;

  /// Connects until `connected_by`. `on_end`: told once when it is over, unless it was closed.
  static std::shared_ptr<Line> open(
      Env& env, PostgresPort& port, Millis ttl, Role role, TimePoint connected_by, OnEnd on_end);

  Line(Env& env, Millis ttl, Role role, OnEnd on_end);
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  std::int64_t id() const { return id_; }
  Millis ttl() const { return ttl_; }
  Role role() const { return role_; }
  const Server& server() const { return server_; }
  /// The server's process; known once it is ready.
  const std::string& backend() const { return backend_; }
  bool is_over() const { return state_ == State::over; }
  TimePoint confirmed_at() const { return confirmed_at_; }
  /// Whether a token that was drawn here may be handed out: no crash takes it back.
  bool has_reserved(Token token) const { return token <= reserved_; }

  /// Held on it or asked for on it: nobody else may ask for them here.
  const std::set<std::int64_t>& keys() const { return keys_; }
  void add(std::int64_t key) { keys_.insert(key); }
  void remove(std::int64_t key);
  /// Since when there is none.
  TimePoint idle_since() const { return idle_since_; }

  /// Waits until it can be used. Failures as PostgresPort::send().
  Task<Result<void>> ready(TimePoint answer_by);

  /// One statement. What is not answered by `answer_by` ends the line.
  Task<Result<Rows>> ask(SharedCall call, TimePoint answer_by);
  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer);
  /// Without waiting for an answer.
  void tell(Call call);

  /// Reserves a token that was drawn here, with many that come after it. Failures as ask().
  Task<Result<void>> reserve(Token token, TimePoint answer_by);

  /// Lets the server hear of this client, unless that is under way.
  void beat();
  /// Waits for the answer to a beat that was sent at `since` or later, and sends one if need be.
  /// False: it did not come by `answer_by`, or the line is over.
  Task<bool> beaten(TimePoint since, TimePoint answer_by);

  /// Ends the backend at once; nobody is told. Precondition: no answer is awaited.
  void close();

 private:
  enum class State : std::uint8_t { connecting, ready, over };

  void hear(const SessionEvent& event);
  void begin();
  void begun(Result<Rows> rows);
  void end(Error why);
  Task<void> change_until(TimePoint due);
  void changed();

  Env& env_;
  Millis ttl_;
  Role role_;
  OnEnd on_end_;
  std::int64_t id_;
  State state_{State::connecting};
  Error why_{};
  Server server_{};
  std::string backend_{};
  Token reserved_{0};
  TimePoint connected_by_{};
  TimePoint confirmed_at_{TimePoint::min()};
  bool beating_{false};
  std::set<std::int64_t> keys_;
  TimePoint idle_since_;
  std::vector<std::shared_ptr<Alarm>> waiting_;
  std::unique_ptr<PostgresSession> session_;
};

}  // namespace holdfast::postgres::advisory
