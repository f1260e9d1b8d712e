#include "engines/redis/driver/connection.h"

#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/completion.h"
#include "engines/redis/driver/greeting.h"

namespace holdfast::redis {
namespace {

namespace asio = boost::asio;

using Moved = std::tuple<boost::system::error_code, std::size_t>;

/// What a connection keeps of a large buffer after it has been used.
constexpr std::size_t kOutputKept = std::size_t{1} << 20;

/// Then reading will tell, after the replies that came before.
bool is_closed_by_peer(const boost::system::error_code& failed) {
  return failed == asio::error::broken_pipe || failed == asio::error::connection_reset;
}

}  // namespace

Connection::Connection(runtime::AsioEnv& env,
                       std::shared_ptr<const RedisTarget> target,
                       std::shared_ptr<TlsContext> tls,
                       User& user)
    : env_{env},
      target_{std::move(target)},
      user_{user},
      transport_{env, std::move(tls)},
      connect_timer_{env, [this] { connect_overdue(); }} {}

std::shared_ptr<Connection> Connection::open(runtime::AsioEnv& env,
                                             std::shared_ptr<const RedisTarget> target,
                                             std::shared_ptr<TlsContext> tls,
                                             User& user) {
  std::shared_ptr<Connection> connection{
      new Connection{env, std::move(target), std::move(tls), user}};
  connection->connect_timer_.set(env.now() + connection->target_->connect_timeout);
  env.spawn(connect(connection));
  return connection;
}

Task<void> Connection::connect(std::shared_ptr<Connection> self) {
  auto connected = co_await self->transport_.connect(*self->target_);
  if (connected && self->state_ == State::connecting) {
    self->waits_for_ = "TLS handshake";
    connected = co_await self->transport_.agree_on_tls(*self->target_);
  }
  if (connected && self->state_ == State::connecting) {
    self->waits_for_ = "answer to the greeting";
    connected = co_await self->introduce();
  }
  if (self->state_ != State::connecting) {
    // Closed while a socket was being opened.
    self->transport_.close();
    co_return;
  }
  if (!connected) {
    self->fail(std::move(connected).error());
    co_return;
  }
  self->state_ = State::ready;
  self->user_.on_ready();
  if (self->state_ == State::ready) self->read();
}

Task<Result<void, Failure>> Connection::introduce() {
  const Greeting greeting{*target_};
  output_ = greeting.bytes();
  // Whether that failed is told by reading, after what a server said before it closed.
  const auto write = [this](auto handler) {
    transport_.write(asio::buffer(output_), std::move(handler));
  };
  co_await completion<Moved>(write);
  output_.clear();
  for (const Greeting::Step step : greeting.steps()) {
    const auto reply = co_await read_one();
    if (!reply) co_return Unexpected{reply.error()};
    if (auto accepted = greeting.check(step, *reply); !accepted) co_return accepted;
  }
  co_return Result<void, Failure>{};
}

Task<Result<Reply, Failure>> Connection::read_one() {
  const auto read = [this](auto handler) {
    transport_.read(asio::buffer(input_), std::move(handler));
  };
  for (;;) {
    auto reply = reader_.next();
    if (!reply) co_return Unexpected{not_redis(reply.error())};
    if (*reply) co_return std::move(**reply);
    const auto [failed, size] = co_await completion<Moved>(read);
    if (failed) co_return Unexpected{transport_.failure(*target_, failed)};
    reader_.feed({input_.data(), size});
  }
}

Failure Connection::not_redis(const std::string& complaint) const {
  return {error_at(*target_, Errc::unavailable, complaint), Failure::Cause::lasting};
}

void Connection::read() {
  transport_.read(asio::buffer(input_),
                  [self = shared_from_this()](const boost::system::error_code& failed,
                                              std::size_t size) { self->received(failed, size); });
}

void Connection::received(const boost::system::error_code& failed, std::size_t size) {
  if (state_ != State::ready) return;
  if (failed) return fail(transport_.failure(*target_, failed));
  reader_.feed({input_.data(), size});
  tell_replies();
  if (state_ == State::ready) read();
}

void Connection::tell_replies() {
  while (state_ == State::ready) {
    auto reply = reader_.next();
    if (!reply) return fail(not_redis(reply.error()));
    if (!*reply) return user_.on_replies_told();
    user_.on_reply(std::move(**reply));
  }
}

Connection::Sent Connection::send_output() {
  HOLDFAST_ASSERT(takes_output());
  boost::system::error_code failed;
  const std::size_t left = transport_.write_at_once(asio::buffer(output_), failed);
  if (left == output_.size()) {
    output_.clear();
    return Sent::leaves;
  }
  sending_ = true;
  if (is_closed_by_peer(failed)) return Sent::refused;
  if (failed) {
    fail(transport_.failure(*target_, failed));
    return Sent::leaves;
  }
  transport_.write(asio::buffer(output_) + left,
                   [self = shared_from_this()](const boost::system::error_code& stopped,
                                               std::size_t) { self->output_left(stopped); });
  return Sent::leaves;
}

void Connection::output_left(const boost::system::error_code& failed) {
  if (state_ != State::ready || is_closed_by_peer(failed)) return;
  if (failed) return fail(transport_.failure(*target_, failed));
  sending_ = false;
  output_.clear();
  if (output_.capacity() > kOutputKept) output_.shrink_to_fit();
  user_.on_output_left();
}

void Connection::connect_overdue() {
  if (state_ == State::connecting) give_up("no " + std::string{waits_for_} + " in time");
}

void Connection::give_up(const std::string& what) {
  if (state_ != State::closed) fail(passing_failure(*target_, what));
}

void Connection::fail(Failure failure) {
  const auto self = shared_from_this();
  close();
  user_.on_broken(std::move(failure));
}

void Connection::close() {
  state_ = State::closed;
  transport_.close();
}

}  // namespace holdfast::redis
