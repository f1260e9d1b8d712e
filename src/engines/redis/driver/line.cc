#include "engines/redis/driver/line.h"

#include <utility>

namespace holdfast::redis {

Line::Line(LineContext context)
    : EndsWithContext{context.env.context()},
      context_{std::move(context)},
      retry_timer_{context_.env, [this] { retry(); }} {}

Line::~Line() {
  if (connection_) connection_->close();
}

void Line::connect() {
  if (connection_ || closed_) return;
  if (env().now() < not_before_) {
    retry_timer_.set(not_before_);
    return;
  }
  connection_ = Connection::open(env(), context_.target, context_.tls, *this);
}

void Line::retry() {
  if (needs_connection()) connect();
}

void Line::close() {
  closed_ = true;
  ready_ = false;
  if (const auto connection = std::exchange(connection_, nullptr)) connection->close();
}

void Line::end_with_context() {
  abandon();
  close();
}

Connection* Line::taking_output() const {
  return connection_ && connection_->takes_output() ? connection_.get() : nullptr;
}

void Line::give_up(const std::string& what) {
  if (const auto connection = connection_) connection->give_up(what);
}

void Line::on_ready() {
  ready_ = true;
  ++connections_;
  last_failure_.reset();
  opened();
}

void Line::on_broken(Failure failure) {
  // Callbacks may drop the last owner of the line.
  const auto self = shared_from_this();
  connection_.reset();
  if (std::exchange(ready_, false)) ++interruptions_;
  not_before_ = env().now() + backoff_delay(context_.backoff, attempts_++, env().draw());
  last_failure_ = failure;
  interrupted(failure);
  retry();
}

}  // namespace holdfast::redis
