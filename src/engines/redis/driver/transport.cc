#include "engines/redis/driver/transport.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "base/completion.h"

namespace holdfast::redis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

using Done = std::tuple<boost::system::error_code>;
using Found = std::tuple<boost::system::error_code, tcp::resolver::results_type>;

}  // namespace

Task<Result<std::vector<Transport::Protocol::endpoint>, Failure>> Transport::look_up(
    const RedisTarget& target) {
  std::vector<Protocol::endpoint> found;
  if (!target.socket_path.empty()) {
    // The length is checked where the URL is read; the constructor would throw.
    found.emplace_back(asio::local::stream_protocol::endpoint{target.socket_path});
    co_return found;
  }
  boost::system::error_code not_an_address;
  const auto address = asio::ip::make_address(target.host, not_an_address);
  if (!not_an_address) {
    found.emplace_back(tcp::endpoint{address, target.port});
    co_return found;
  }
  // It looks names up on a thread of its own.
  const runtime::AsioEnv::Unwatched unwatched{env_};
  tcp::resolver resolver{env_.context()};
  const std::string service = std::to_string(target.port);
  const auto resolve = [&](auto handler) {
    resolver.async_resolve(target.host, service, std::move(handler));
  };
  const auto [failed, answers] = co_await completion<Found>(resolve);
  if (failed) co_return Unexpected{passing_failure(target, failed)};
  for (const auto& answer : answers) found.emplace_back(answer.endpoint());
  co_return found;
}

Task<Result<void, Failure>> Transport::connect(const RedisTarget& target) {
  const auto endpoints = co_await look_up(target);
  if (!endpoints) co_return Unexpected{endpoints.error()};
  boost::system::error_code failed = asio::error::host_not_found;
  for (const Protocol::endpoint& endpoint : *endpoints) {
    failed = open(endpoint);
    if (failed) continue;
    const auto begin = [&](auto handler) { socket_.async_connect(endpoint, std::move(handler)); };
    std::tie(failed) = co_await completion<Done>(begin);
    if (!failed || failed == asio::error::operation_aborted) break;
  }
  if (failed) co_return Unexpected{passing_failure(target, failed)};
  tune();
  co_return Result<void, Failure>{};
}

boost::system::error_code Transport::open(const Protocol::endpoint& endpoint) {
  boost::system::error_code failed;
  socket_.close(failed);
  socket_.open(endpoint.protocol(), failed);
  if (!failed) env_.watch(socket_.native_handle());
  return failed;
}

void Transport::tune() {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  // Neither is known to Unix sockets.
  socket_.set_option(tcp::no_delay{true}, ignored);
  socket_.set_option(asio::socket_base::keep_alive{true}, ignored);
}

Task<Result<void, Failure>> Transport::agree_on_tls(const RedisTarget& target) {
  if (!tls_) co_return Result<void, Failure>{};
  session_.emplace(socket_, *tls_);
  if (const auto expected = expect_server(session_->native_handle(), target); !expected) {
    co_return Unexpected{Failure{expected.error(), Failure::Cause::lasting}};
  }
  const auto shake_hands = [this](auto handler) {
    session_->async_handshake(asio::ssl::stream_base::client, std::move(handler));
  };
  const auto [failed] = co_await completion<Done>(shake_hands);
  if (failed) co_return Unexpected{failure(target, failed)};
  co_return Result<void, Failure>{};
}

std::size_t Transport::write_at_once(asio::const_buffer bytes, boost::system::error_code& failed) {
  failed = {};
  if (session_) return 0;
  const std::size_t written = socket_.write_some(bytes, failed);
  if (failed == asio::error::would_block || failed == asio::error::try_again) failed = {};
  return written;
}

Failure Transport::failure(const RedisTarget& target, const boost::system::error_code& said) {
  return session_ ? tls_failure(session_->native_handle(), target, said)
                  : passing_failure(target, said);
}

void Transport::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace holdfast::redis
