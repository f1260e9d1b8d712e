// SessionLine: a session: one connection for as long as it lasts.
//
// Thread safety: none; it belongs to the Env's thread. Lifetime: shared. Whoever owns it calls
// abandon().

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "engines/postgres/driver/connection.h"
#include "runtime/end_registry.h"

namespace holdfast::postgres {

class SessionLine final : public runtime::EndsWithContext, private Connection::User {
 public:
  SessionLine(std::shared_ptr<Server> server, TimePoint connected_by, OnEvent on_event);
  ~SessionLine() override;

  /// Begins to connect, soon.
  void open();

  // As PostgresSession.

  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer);
  std::int32_t backend() const { return connection_ ? connection_->backend() : 0; }

  /// Ends the backend and drops what was to be called back.
  void abandon();

  void end_with_context() override { abandon(); }

 private:
  void on_ready() override;
  void on_notified(std::string channel, std::string payload) override;
  void on_told() override { flush(); }
  void on_broken(Failure failure) override;
  bool is_abandoned() const override { return abandoned_; }

  bool is_pooled() const;
  void begin();
  void flush_soon();
  void flush();
  void look_at_clock();
  void end(const Error& why);
  std::shared_ptr<SessionLine> self();

  std::shared_ptr<Server> server_;
  TimePoint connected_by_;
  OnEvent on_event_;
  std::shared_ptr<Connection> connection_;
  std::deque<Request> waiting_;
  bool flush_posted_{false};
  bool connected_{false};
  bool abandoned_{false};
  /// Why it has ended.
  std::optional<Error> ended_;
  DueTimer timer_;
};

}  // namespace holdfast::postgres
