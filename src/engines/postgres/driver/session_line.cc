#include "engines/postgres/driver/session_line.h"

#include <algorithm>
#include <utility>

namespace holdfast::postgres {

SessionLine::SessionLine(std::shared_ptr<Server> server, TimePoint connected_by, OnEvent on_event)
    : EndsWithContext{server->env.context()},
      server_{std::move(server)},
      connected_by_{connected_by},
      on_event_{std::move(on_event)},
      timer_{server_->env, [this] { look_at_clock(); }} {}

SessionLine::~SessionLine() { abandon(); }

std::shared_ptr<SessionLine> SessionLine::self() {
  return std::static_pointer_cast<SessionLine>(shared_from_this());
}

void SessionLine::open() {
  timer_.set(connected_by_);
  // A server that refused us a moment ago is left alone for a while.
  timer_.set(std::max(server_->not_before, server_->env.now()));
}

bool SessionLine::is_pooled() const {
  return server_->direct == PostgresPort::Direct::no && server_->pooling != Pooling::session;
}

void SessionLine::begin() {
  if (is_pooled()) {
    Error pooled = error_at(server_->text(),
                            Errc::unsupported,
                            "there is a pooler between, which gives no session of the server's");
    pooled.remedy_text = "give the address of the server itself by listen=, or say pooler=session";
    return end(pooled);
  }
  connection_ = Connection::open(server_, Connection::Use::session, *this);
}

void SessionLine::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  waiting_.push_back(
      {.call = std::move(call), .answer_by = answer_by, .on_answer = std::move(on_answer)});
  if (!connected_) timer_.set(answer_by);
  flush_soon();
}

void SessionLine::flush_soon() {
  if (std::exchange(flush_posted_, true)) return;
  server_->env.run_after_tasks([self = self()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void SessionLine::flush() {
  if (ended_) {
    const auto kept = self();
    const Error never_left{Errc::unavailable, ended_->message};
    for (Request& request : std::exchange(waiting_, {})) {
      if (!abandoned_) request.on_answer(Result<Answer>{Unexpected{never_left}});
    }
    return;
  }
  if (!connected_) return;
  while (!waiting_.empty()) {
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    connection_->send(std::move(request));
  }
  connection_->flush();
}

void SessionLine::on_ready() {
  const auto kept = self();
  // Nobody has told it of a pooler: it found out.
  if (is_pooled()) return begin();
  connected_ = true;
  const OnEvent on_event = on_event_;
  if (on_event) on_event({.kind = SessionEvent::Kind::connected});
  if (!ended_) flush();
}

void SessionLine::on_notified(std::string channel, std::string payload) {
  const OnEvent on_event = on_event_;
  if (!on_event) return;
  on_event({.kind = SessionEvent::Kind::notified,
            .channel = std::move(channel),
            .payload = std::move(payload)});
}

void SessionLine::on_broken(Failure failure) { end(failure.error); }

void SessionLine::look_at_clock() {
  if (ended_ || connected_) return;
  const auto kept = self();
  const TimePoint now = server_->env.now();
  TimePoint until = connected_by_;
  for (const Request& request : waiting_) until = std::min(until, request.answer_by);
  if (now >= until) {
    return end(error_at(server_->text(), Errc::unavailable, "no connection in time"));
  }
  timer_.set(until);
  if (connection_) return;
  if (now < server_->not_before) return timer_.set(server_->not_before);
  begin();
}

void SessionLine::end(const Error& why) {
  if (ended_) return;
  const auto kept = self();
  ended_ = why;
  if (connection_) connection_->close();
  flush();
  const OnEvent on_event = std::exchange(on_event_, nullptr);
  if (on_event) on_event({.kind = SessionEvent::Kind::ended, .error = why});
}

void SessionLine::abandon() {
  abandoned_ = true;
  if (!ended_) ended_ = error_at(server_->text(), Errc::unavailable, "the session was closed");
  on_event_ = nullptr;
  if (connection_) connection_->close();
  // Dropping a callback unwinds its task, which may reach for this session.
  const auto dropped = std::exchange(waiting_, {});
}

}  // namespace holdfast::postgres
