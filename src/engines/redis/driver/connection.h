// Connection: one connection to a server, from looking up its address until it breaks.
//
// It connects, authenticates and chooses the database, then carries bytes one way and replies the
// other. It is made once; a new connection is a new object.
//
// Thread safety: none; it belongs to the Env's thread.
// Lifetime: keeps itself while something is under way. Its user closes it before going.

#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/due_timer.h"
#include "base/env.h"
#include "engines/redis/driver/resp_reader.h"
#include "engines/redis/driver/transport.h"
#include "runtime/asio_env.h"

namespace holdfast::redis {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// Whom it serves. Called between tasks of the Env, never inside a call to the connection but
  /// send_output(), which may find it broken.
  class User {
   public:
    /// Bytes may be sent from now on.
    virtual void on_ready() = 0;
    virtual void on_reply(Reply reply) = 0;
    /// All replies that arrived together have been told.
    virtual void on_replies_told() = 0;
    /// Output that did not leave at once has left.
    virtual void on_output_left() = 0;
    /// Nothing will be told any more.
    virtual void on_broken(Failure failure) = 0;

   protected:
    ~User() = default;
  };

  /// Begins to connect. `user` outlives the connection or closes it.
  static std::shared_ptr<Connection> open(runtime::AsioEnv& env,
                                          std::shared_ptr<const RedisTarget> target,
                                          std::shared_ptr<TlsContext> tls,
                                          User& user);

  /// Whether output() may be filled and sent: the connection is ready and nothing is on its way.
  bool takes_output() const { return state_ == State::ready && !sending_; }

  /// Where to put the bytes to send. Precondition: takes_output().
  std::string& output() { return output_; }

  enum class Sent : std::uint8_t { leaves, refused };

  /// Sends what output() holds, in one write if the system takes it. Refused: the server had closed
  /// the connection before, and has none of it. That it is broken is told later, after the replies
  /// that came before.
  Sent send_output();

  /// Ends it as broken, by what the user noticed.
  void give_up(const std::string& what);

  /// Ends it without telling.
  void close();

 private:
  enum class State : std::uint8_t { connecting, ready, closed };

  Connection(runtime::AsioEnv& env,
             std::shared_ptr<const RedisTarget> target,
             std::shared_ptr<TlsContext> tls,
             User& user);

  static Task<void> connect(std::shared_ptr<Connection> self);
  Task<Result<void, Failure>> introduce();
  Task<Result<Reply, Failure>> read_one();
  void connect_overdue();
  void read();
  void received(const boost::system::error_code& failed, std::size_t size);
  void tell_replies();
  void output_left(const boost::system::error_code& failed);
  void fail(Failure failure);
  Failure not_redis(const std::string& complaint) const;

  runtime::AsioEnv& env_;
  std::shared_ptr<const RedisTarget> target_;
  User& user_;
  Transport transport_;
  DueTimer connect_timer_;
  /// While connecting.
  std::string_view waits_for_{"connection"};
  RespReader reader_;
  State state_{State::connecting};
  bool sending_{false};
  std::string output_;
  std::array<char, std::size_t{64} << 10> input_;
};

}  // namespace holdfast::redis
