// Connection: statements and their answers over one wire.
//
// Statements are pipelined, each with a synchronisation point of its own, so that each is a
// transaction and none waits for the answer to another. An answer counts when its point is reached:
// only then has the transaction ended.
//
// The first statement asks which backend answers. One that is not the backend we connected to is
// somewhere behind a pooler. Otherwise statements are prepared when they are first sent, and the
// server is told how to notice that we have vanished.
//
// Thread safety: none; it belongs to the Env's thread.
// Lifetime: shared. Its user closes it before going.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/postgres/driver/wire.h"

namespace holdfast::postgres {

/// A statement on its way.
struct Request {
  SharedCall call;
  TimePoint answer_by;
  OnAnswer on_answer;
};

class Connection final : private Wire::User, public std::enable_shared_from_this<Connection> {
 public:
  /// Whom it serves. Called between tasks of the Env, never inside a call to the connection.
  class User {
   public:
    /// Statements may be sent from now on.
    virtual void on_ready() = 0;
    virtual void on_notified(std::string channel, std::string payload) = 0;
    /// What arrived together has been told.
    virtual void on_told() = 0;
    /// What was sent has been answered. Nothing will be told any more.
    virtual void on_broken(Failure failure) = 0;
    /// Whether nobody is to be called back any more.
    virtual bool is_abandoned() const = 0;

   protected:
    ~User() = default;
  };

  enum class Use : std::uint8_t {
    /// Answers may be overtaken: a late one ends nothing as long as others come.
    statements,
    /// For as long as it lasts: a late answer ends it. Servers are not to end it for being idle.
    session,
  };

  static std::shared_ptr<Connection> open(std::shared_ptr<Server> server, Use use, User& user);

  Connection(std::shared_ptr<Server> server, Use use, User& user);
  ~Connection();

  bool is_ready() const { return ready_; }
  /// Statements of the user's that are not answered.
  std::size_t load() const { return sent_.size() - settling_; }
  /// Whether it owes an answer and has not been heard of since then.
  bool is_silent_since(TimePoint then) const { return !sent_.empty() && silent_since_ < then; }
  /// The server's process; 0 before it is ready.
  std::int32_t backend() const { return backend_; }
  /// Whom it is connected with, as messages name it.
  const std::string& at() const { return wire_->at(); }

  /// Hands the statement to libpq. It may leave with the next flush(). Precondition: is_ready().
  void send(Request request);
  void flush() { wire_->flush(); }

  /// Ends it as broken, soon.
  void give_up(Failure failure) { wire_->give_up(std::move(failure)); }

  /// Ends it without telling, at once. What was to be called back is dropped.
  void close();

 private:
  struct Sent {
    Request request;
    bool prepares{false};
    /// Its deadline has passed: the answer is still to come and interests nobody.
    bool answered{false};
    std::optional<Answer> answer{};
  };
  enum class Known : std::uint8_t { no, soon, yes };

  void on_connected() override;
  void on_input() override;
  void on_broken(Failure failure) override;

  void ask_who();
  void who_told(const Result<Answer>& answer);
  void settle();
  void hand_over(Request request);
  int hand_over_call(const Call& call, Sent& sent);
  void take_results();
  void take_result(const pg_result* result);
  void reached_point();
  void tell_notifications();
  void look_at_deadlines();
  void answer_overdue(TimePoint now);
  void tell(OnAnswer& on_answer, Result<Answer> answer);

  std::shared_ptr<Server> server_;
  Use use_;
  User& user_;
  std::shared_ptr<Wire> wire_;
  bool ready_{false};
  bool closed_{false};
  std::int32_t backend_{0};
  std::deque<Sent> sent_;
  /// How many of them are of our own.
  std::size_t settling_{0};
  /// Statements that the backend knows by name.
  std::map<std::string_view, Known> prepared_;
  /// When something was last heard, or first owed after that.
  TimePoint silent_since_{};
  DueTimer deadline_timer_;
};

}  // namespace holdfast::postgres
