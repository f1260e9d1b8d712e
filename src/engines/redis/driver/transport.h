// Transport: bytes to and from one server, over TCP, a Unix socket or TLS.
//
// Thread safety: none; it belongs to the Env's thread.
// Lifetime: outlives what it has been asked for.

#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "base/task.h"
#include "engines/redis/driver/tls.h"
#include "runtime/asio_env.h"

namespace holdfast::redis {

class Transport {
 public:
  /// `tls` may be empty: not encrypted.
  Transport(runtime::AsioEnv& env, std::shared_ptr<TlsContext> tls)
      : env_{env}, tls_{std::move(tls)}, socket_{env.context()} {}

  /// Looks up the host and connects. `target` outlives the await.
  Task<Result<void, Failure>> connect(const RedisTarget& target);

  /// Encrypts from now on, if that is wanted. `target` outlives the await.
  Task<Result<void, Failure>> agree_on_tls(const RedisTarget& target);

  /// Writes what the system takes at once and says how much: nothing where TLS is in use.
  std::size_t write_at_once(boost::asio::const_buffer bytes, boost::system::error_code& failed);

  template <class Handler>
  auto write(boost::asio::const_buffer bytes, Handler&& handler) {
    return session_ ? boost::asio::async_write(*session_, bytes, std::forward<Handler>(handler))
                    : boost::asio::async_write(socket_, bytes, std::forward<Handler>(handler));
  }

  template <class Handler>
  auto read(boost::asio::mutable_buffer room, Handler&& handler) {
    return session_ ? session_->async_read_some(room, std::forward<Handler>(handler))
                    : socket_.async_read_some(room, std::forward<Handler>(handler));
  }

  /// What an error of read() or write() means.
  Failure failure(const RedisTarget& target, const boost::system::error_code& said);

  /// Ends everything under way.
  void close();

 private:
  using Protocol = boost::asio::generic::stream_protocol;
  using Socket = boost::asio::basic_stream_socket<Protocol, boost::asio::io_context::executor_type>;

  Task<Result<std::vector<Protocol::endpoint>, Failure>> look_up(const RedisTarget& target);
  boost::system::error_code open(const Protocol::endpoint& endpoint);
  void tune();

  runtime::AsioEnv& env_;
  std::shared_ptr<TlsContext> tls_;
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> session_;
};

}  // namespace holdfast::redis
