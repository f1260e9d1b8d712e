// Lines: the sessions of this process at the server, some for each TTL.
//
// The first of a TTL takes every lock that is free. One that must wait gets a line of its own,
// which keeps the lock when it is given. A key is on a line once at most. A line that nobody needs
// is closed before the server would end it, and log that as an error.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <list>
#include <memory>

#include "engines/postgres/advisory/line.h"

namespace holdfast::postgres::advisory {

/// The right to ask for a key on a line, and to hold it there; over when this goes.
class LineUse {
 public:
  LineUse() = default;
  LineUse(std::shared_ptr<Line> line, std::int64_t key);
  LineUse(LineUse&&) noexcept = default;
  LineUse& operator=(LineUse&& other) noexcept;
  ~LineUse() { let_go(); }

  Line* operator->() const { return line_.get(); }
  const std::shared_ptr<Line>& line() const { return line_; }
  std::int64_t key() const { return key_; }

 private:
  void let_go() noexcept;

  std::shared_ptr<Line> line_;
  std::int64_t key_{0};
};

class Lines : public std::enable_shared_from_this<Lines> {
 public:
  /// `on_end`: told of every line that was ended by others.
  Lines(Env& env, std::shared_ptr<PostgresPort> port, Line::OnEnd on_end);

  /// A line that is ready, for a request that does not wait.
  Task<Result<LineUse>> quick(Millis ttl, std::int64_t key, TimePoint answer_by);
  /// One that nobody else uses, for a request that waits.
  Task<Result<LineUse>> patient(Millis ttl, std::int64_t key, TimePoint answer_by);

  /// Whether a line of this process holds or asks for it.
  bool has(std::int64_t key) const;

  /// Ends it, and frees what it holds.
  void discard(const std::shared_ptr<Line>& line);

 private:
  enum class Wanted : std::uint8_t { quick, patient };

  std::shared_ptr<Line> find(Millis ttl, std::int64_t key, Wanted wanted) const;
  std::shared_ptr<Line> open(Millis ttl, Wanted wanted, TimePoint answer_by);
  Task<Result<LineUse>> use(Millis ttl, std::int64_t key, Wanted wanted, TimePoint answer_by);
  TimePoint close_idle_ones();
  static Task<void> close_in_time(std::weak_ptr<Lines> weak, Env& env);

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  Line::OnEnd on_end_;
  /// The oldest first.
  std::list<std::shared_ptr<Line>> lines_;
  bool closing_{false};
};

}  // namespace holdfast::postgres::advisory
