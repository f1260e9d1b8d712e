// Wire: one connection of libpq's in the Env's loop, from looking up the host until it breaks.
//
// It tries the hosts one after the other, each for its part of the time: libpq, left alone, would
// wait for the first for ever. It looks whether who answers speaks PostgreSQL at all, and listens
// when nothing is owed, so that the end of an idle connection is noticed.
//
// libpq owns its socket and replaces it when it likes. What is given to Asio is a duplicate.
//
// Thread safety: none; it belongs to the Env's thread.
// Lifetime: keeps itself while something is under way. Its user closes it before going.

#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/due_timer.h"
#include "base/task.h"
#include "engines/postgres/driver/failure.h"
#include "engines/postgres/driver/server.h"

struct pg_conn;
struct pg_result;

namespace holdfast::postgres {

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  /// Whom it serves. Called between tasks of the Env, never inside a call to the wire.
  class User {
   public:
    /// Connected, and in pipeline mode.
    virtual void on_connected() = 0;
    /// libpq has something to tell. The wire may be closed.
    virtual void on_input() = 0;
    /// Nothing will be told any more.
    virtual void on_broken(Failure failure) = 0;

   protected:
    ~User() = default;
  };

  /// Begins to connect, soon. `user` outlives the wire or closes it.
  static std::shared_ptr<Wire> open(std::shared_ptr<Server> server, User& user);

  /// Null unless connected.
  pg_conn* client() const { return state_ == State::connected ? client_ : nullptr; }
  /// Whom it is connected with, as messages name it.
  const std::string& at() const { return at_; }

  /// Sends what libpq has not sent yet.
  void flush();

  /// Ends it as broken, soon, by what the user noticed.
  void give_up(Failure failure);

  /// Ends it without telling, at once.
  void close();

  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

 private:
  enum class State : std::uint8_t { connecting, connected, closed };

  Wire(std::shared_ptr<Server> server, User& user);

  void begin();
  static Task<void> look_up_and_try(std::shared_ptr<Wire> self);
  void try_hosts(std::vector<Host> hosts);
  void try_next();
  void start_at(const Host& host);
  void poll();
  void attempt_failed(Failure failure);
  void attempt_overdue();
  void connected();
  bool speaks_postgres();
  void look_at_socket();
  void drop_client();
  void wait_for_input();
  void wait_for_room();
  void input_came();
  void room_came();
  void fail(Failure failure);
  Failure cause() const;
  static void on_notice(void* self, const pg_result* notice);

  std::shared_ptr<Server> server_;
  User& user_;
  State state_{State::connecting};
  pg_conn* client_{nullptr};
  std::string at_;
  std::vector<Host> hosts_;
  std::size_t tried_{0};
  std::vector<Failure> failures_;
  bool heard_{false};
  TimePoint attempt_until_{};
  DueTimer attempt_timer_;
  /// A duplicate of libpq's socket.
  boost::asio::posix::stream_descriptor socket_;
  /// Tells the waits on one socket from those on the next.
  std::uint64_t socket_number_{0};
  bool awaits_input_{false};
  bool awaits_room_{false};
  /// What the server said when it hung up.
  std::string last_words_;
};

}  // namespace holdfast::postgres
