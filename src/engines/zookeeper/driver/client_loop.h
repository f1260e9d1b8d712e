// ClientLoop: ZooKeeper's C client in the Env's loop, for one session.
//
// It gives the client its turns when the socket is ready or time has passed, and makes up for what
// the client lacks: it looks whether a server speaks ZooKeeper at all, gives up on servers that
// stay silent, and lets go of a session without ending it.
//
// The client owns its socket and closes it when it likes. What is given to Asio is a duplicate.
//
// Thread safety: none; it belongs to the Env's thread. Lifetime: shared. Whoever owns it ends it.

#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "base/due_timer.h"
#include "engines/zookeeper/zookeeper_messages.h"
#include "runtime/asio_env.h"
#include "runtime/end_registry.h"

struct _zhandle;

namespace holdfast::zookeeper {

/// How long one server may take to answer a connection request. A session that is there already
/// must find another server before it is over: in the first round of attempts there is little time.
Duration attempt_limit(Duration connect_timeout, Millis session_timeout, std::uint32_t rounds);

class ClientLoop : public runtime::EndsWithContext {
 public:
  struct Patience {
    Duration connect_timeout;
    BackoffPolicy backoff;
  };

 protected:
  ClientLoop(runtime::AsioEnv& env, Patience patience);
  ~ClientLoop() override;

  struct Opening {
    /// Addresses, not names: `127.0.0.1:2181,…`.
    std::string servers;
    Millis timeout{0};
    std::optional<SessionKey> resume{};
    /// `user:password`; empty: none.
    std::string credentials{};
  };
  /// Begins to connect. Precondition: it has not begun.
  void begin(const Opening& opening);
  /// Ends the client, and leaves the session to its timeout. Nothing is told any more.
  void end_client();

  runtime::AsioEnv& env() const { return env_; }
  /// Null before begin() and after end_client().
  _zhandle* client() const { return client_; }
  bool is_connected() const { return connected_; }
  /// Of the session that is connected.
  SessionKey key() const;
  Millis timeout() const;
  /// Before the connection request of the session's connection left.
  TimePoint asked_at() const { return asked_at_; }
  /// Whom the client speaks with, or spoke with last.
  const std::string& server() const { return server_; }

  /// While one lives, what the client sends is gathered, and leaves together: the client writes
  /// every length and every request on its own, and each would wake the server.
  class Gathering {
   public:
    explicit Gathering(ClientLoop& loop) : loop_{loop}, wire_number_{loop.wire_number_} {
      loop_.gather(1);
    }
    ~Gathering() {
      if (loop_.wire_number_ == wire_number_) loop_.gather(0);
    }
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;

   private:
    ClientLoop& loop_;
    std::uint64_t wire_number_;
  };

  /// After calls of the client: looks what has become of it, and waits for what it waits for.
  void after_calls();
  /// Gives up the connection, for that reason; the client looks for another.
  void cut(Error why);
  /// Takes the connection away from the client. -1: there is none, or it has not sent everything.
  int take_connection();

  // What happens, told inside turns.

  virtual void connected() = 0;
  /// The connection broke, or could not be made.
  enum class Was : std::uint8_t { connected, connecting };
  virtual void disconnected(Was was, const Error& why) = 0;
  virtual void expired() = 0;
  virtual void refused(const Error& why) = 0;
  /// The turn is over; the client may be ended.
  virtual void turned() = 0;
  /// Whether something is to come from the server soon.
  virtual bool expects_answers() const = 0;
  /// When the connection is to be given up unless something is heard.
  virtual TimePoint silent_until() const = 0;

 private:
  void gather(int on);
  void turn(int events);
  void process(int events);
  void arm();
  void scrub();
  int call(const std::function<int()>& calling);
  void note(int before, TimePoint called_at, int code);
  Error cause(int before) const;
  void open_wire(int descriptor);
  void renew_wire();
  void close_wire();
  void wait_for_input();
  void wait_for_room();
  bool gives_up(TimePoint now);
  bool speaks_zookeeper();

  runtime::AsioEnv& env_;
  Patience patience_;
  _zhandle* client_{nullptr};
  /// A duplicate of the client's socket, which is descriptor_.
  boost::asio::posix::stream_descriptor wire_;
  int descriptor_{-1};
  /// Tells the waits of one connection from those of the next.
  std::uint64_t wire_number_{0};
  bool awaits_input_{false};
  bool awaits_room_{false};
  bool has_output_{false};
  bool connected_{false};
  bool was_connected_{false};
  TimePoint asked_at_{};
  TimePoint attempt_until_{};
  std::uint32_t rounds_{0};
  std::string server_;
  /// Why the connection is being cut.
  std::optional<Error> cut_for_;
  DueTimer timer_;
};

}  // namespace holdfast::zookeeper
