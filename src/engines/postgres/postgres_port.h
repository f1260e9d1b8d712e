// PostgresPort: what the engines need of a PostgreSQL server: to run a statement, and sessions.
//
// The driver implements it over libpq, the simulator over a model server.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/callback.h"
#include "base/completion.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::postgres {

/// One SQL statement with parameters $1, $2, …. Text and name live for the whole program; no two
/// statements have the same name. One that is needed once has none, and lives as long as its call.
struct Statement {
  std::string_view name;
  std::string_view sql;
};

/// In PostgreSQL's text form; none: NULL.
using Value = std::optional<std::string>;
using Row = std::vector<Value>;

struct Call {
  const Statement* statement;
  std::vector<Value> args;
};

/// Shared by every repetition.
using SharedCall = std::shared_ptr<const Call>;

inline SharedCall share(Call call) { return std::make_shared<const Call>(std::move(call)); }

/// What the server refused, and undid.
struct Refusal {
  /// Five characters, such as "42501".
  std::string sqlstate{};
  /// The server's own words and where it is: "permission denied … (at 127.0.0.1:5432)".
  std::string message{};
  std::string detail{};

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

using Rows = std::vector<Row>;
using Answer = std::variant<Rows, Refusal>;
using OnAnswer = Callback<56, Result<Answer>>;

struct SessionEvent {
  enum class Kind : std::uint8_t {
    /// Told once, before any other.
    connected,
    notified,
    /// Told once, after which nothing is. What the session held is gone, or goes soon.
    ended,
  };
  Kind kind{Kind::connected};
  /// notified: the channel and what was said there.
  std::string channel{};
  std::string payload{};
  /// ended: why, with the server's address.
  std::optional<Error> error{};
};
using OnEvent = std::function<void(const SessionEvent&)>;

/// One backend of the server's for as long as it lasts; it is not replaced when it ends.
///
/// Statements run in the order in which they were sent, each in a transaction of its own. Answers
/// are told in that order, and so are notifications in the order in which they were given; none is
/// told before an answer that the server gave first. All of it is told between tasks of the Env and
/// never inside a call. Failures as PostgresPort::send() has them.
///
/// Thread safety: as Env. Lifetime: its end ends the backend, at once, and drops what was to be
/// called back.
class PostgresSession {
 public:
  virtual ~PostgresSession() = default;

  /// One that is not answered by `answer_by` ends the session: nothing can overtake it.
  virtual void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) = 0;

  /// The server's process, once connected; 0 before.
  virtual std::int32_t backend() const = 0;

  /// Awaited, sends and waits for the answer. `call` outlives the await; it is not held, because
  /// g++ 12 destroys what an awaiting expression holds twice.
  auto answered(const SharedCall& call, TimePoint answer_by) {
    const auto start = [this, &call, answer_by](auto handler) {
      send(call, answer_by, OnAnswer{std::move(handler)});
    };
    return completion<Result<Answer>>(start);
  }
};

/// Thread safety: as Env; several calls may be under way at once. Lifetime: outlives its sessions.
class PostgresPort {
 public:
  virtual ~PostgresPort() = default;

  /// Runs the statement in a transaction of its own, on whatever connection is free: two that are
  /// under way at once run in any order. The answer is handed over once, by `answer_by` or soon
  /// after, between tasks of the Env and never inside this call. Nothing is repeated behind the
  /// caller's back once it may have run.
  ///
  /// unavailable: it has not run and never will. unknown_outcome: it left and no answer came; it
  /// may have run, or may still run. denied: no right to connect. invalid_argument: there is no
  /// such database. corrupt: whoever answers is not PostgreSQL. Messages name the server and the
  /// cause.
  virtual void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) = 0;

  /// Whether sessions can be had: not when there is a pooler between and no address of the server
  /// itself is known. Known once something was answered; `unknown` before.
  enum class Direct : std::uint8_t { unknown, yes, no };
  virtual Direct direct() const = 0;

  /// Connects to the server itself, past any pooler. `connected` or `ended` is told by
  /// `connected_by` or soon after.
  virtual std::unique_ptr<PostgresSession> open(TimePoint connected_by, OnEvent on_event) = 0;

  /// As PostgresSession::answered().
  auto answered(const SharedCall& call, TimePoint answer_by) {
    const auto start = [this, &call, answer_by](auto handler) {
      send(call, answer_by, OnAnswer{std::move(handler)});
    };
    return completion<Result<Answer>>(start);
  }
};

}  // namespace holdfast::postgres
