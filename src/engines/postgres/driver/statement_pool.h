// StatementPool: statements outside of sessions, over a few connections.
//
// A statement goes to a connection that has nothing under way. While all have something, a further
// one is opened, as long as there may be more, and the statement goes to whichever is free first.
// When there are enough, it goes to the one with the fewest under way, and rather to none that has
// not been heard of for a while. What has not been handed to a connection is known never to have
// left. Connections that nobody uses any more are closed, but for one.
//
// Thread safety: none; it belongs to the Env's thread, except abandon().
// Lifetime: shared. Whoever owns it abandons it and closes it on the Env's thread.

#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engines/postgres/driver/connection.h"
#include "runtime/end_registry.h"

namespace holdfast::postgres {

class StatementPool final : public runtime::EndsWithContext {
 public:
  explicit StatementPool(std::shared_ptr<Server> server);
  ~StatementPool() override;

  /// As PostgresPort::send().
  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer);

  /// From now on nobody is called back. Any thread.
  void abandon() { abandoned_.store(true, std::memory_order_relaxed); }
  /// Closes the connections for good and drops what was to be called back.
  void close();
  void end_with_context() override;

 private:
  class Member;
  using Requests = std::deque<Request>;

  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  void flush_soon();
  void flush();
  Member* best() const;
  enum class Growing : std::uint8_t { no, yes };
  Growing grow();
  void shrink();
  void member_ready();
  void member_broken(Member& member, const Failure& failure);
  void look_at_deadlines();
  void answer(Requests requests, const Error& error);
  Error never_left() const;

  std::shared_ptr<Server> server_;
  std::atomic<bool> abandoned_{false};
  bool closed_{false};
  std::vector<std::unique_ptr<Member>> members_;
  Requests waiting_;
  /// Why there is no connection. Empty when none has failed since the last was ready.
  std::optional<Failure> last_failure_;
  bool flush_posted_{false};
  DueTimer deadline_timer_;
  DueTimer retry_timer_;
  DueTimer idle_timer_;
};

}  // namespace holdfast::postgres
