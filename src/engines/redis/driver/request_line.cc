#include "engines/redis/driver/request_line.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace holdfast::redis {
namespace {

/// One write carries about this much; the rest waits for the next and can still be withdrawn.
constexpr std::size_t kBatchBytes = std::size_t{256} << 10;
constexpr std::size_t kFirstRing = 64;

}  // namespace

RequestLine::RequestLine(LineContext context, Duration silence)
    : Line{std::move(context)},
      ring_{kFirstRing},
      silence_{silence},
      deadline_timer_{env(), [this] { look_at_deadlines(); }} {}

void RequestLine::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  add({.call = std::move(call),
       .words = {},
       .answer_by = answer_by,
       .on_answer = std::move(on_answer),
       .form = Form::evalsha});
}

void RequestLine::command(std::vector<std::string> words, TimePoint answer_by, OnAnswer on_answer) {
  add({.call = nullptr,
       .words = std::move(words),
       .answer_by = answer_by,
       .on_answer = std::move(on_answer),
       .form = Form::words});
}

void RequestLine::add(Request request) {
  deadline_timer_.set(request.answer_by);
  if (ring_.full()) ring_.set_capacity(2 * ring_.capacity());
  ring_.push_back(std::move(request));
  connect();
  flush_soon();
}

void RequestLine::flush_soon() {
  if (flush_posted_ || telling_ || taking_output() == nullptr) return;
  flush_posted_ = true;
  const auto flush_later = [self = shared_from_this(), this] {
    flush_posted_ = false;
    flush();
  };
  env().run_after_tasks(flush_later);
}

void RequestLine::flush() {
  while (written_ < ring_.size()) {
    Connection* const connection = taking_output();
    if (connection == nullptr) return;
    const std::size_t written_before = written_;
    encode_waiting(connection->output());
    ++writes_;
    // They never left, and may go with the next connection.
    if (connection->send_output() == Connection::Sent::refused) written_ = written_before;
  }
}

void RequestLine::encode_waiting(std::string& out) {
  if (written_ == 0) silent_since_ = env().now();
  while (written_ < ring_.size() && out.size() < kBatchBytes) {
    const Request& request = ring_[written_];
    switch (request.form) {
      case Form::evalsha:
        scripts_.append(out, *request.call);
        break;
      case Form::eval:
        append_eval(out, *request.call);
        break;
      case Form::words:
        append_command(out, request.words);
        break;
    }
    ++written_;
    ++requests_written_;
  }
}

void RequestLine::on_reply(Reply reply) {
  if (abandoned()) return;
  telling_ = true;
  if (written_ == 0) return give_up("sent a reply nobody asked for");
  prove_alive();
  if (ring_.front().form == Form::evalsha && !ring_.front().answered && is_noscript(reply)) {
    return send_again();
  }
  // Out of the ring before it is told: the answer may bring the next request.
  Request request = std::move(ring_.front());
  ring_.pop_front();
  --written_;
  // Of several servers, who has said it?
  if (reply.kind == Reply::Kind::error) reply.text += " (at " + target().node() + ')';
  if (!request.answered) request.on_answer(Result<Reply>{std::move(reply)});
}

// The script has not run. By its text it does, and the server knows it from then on.
void RequestLine::send_again() {
  Request request = std::move(ring_.front());
  ring_.pop_front();
  --written_;
  ++scripts_resent_;
  request.form = Form::eval;
  ring_.push_back(std::move(request));
}

void RequestLine::on_replies_told() {
  telling_ = false;
  silent_since_ = env().now();
  if (!abandoned()) flush();
}

void RequestLine::opened() {
  scripts_.forget();
  flush();
}

void RequestLine::interrupted(const Failure& failure) {
  telling_ = false;
  const Error lost{Errc::unknown_outcome, failure.error.message + ", before it answered a request"};
  Requests written = take_written();
  Requests waiting = failure.cause == Failure::Cause::lasting ? take_waiting() : Requests{};
  answer(std::move(written), lost);
  answer(std::move(waiting), failure.error);
}

void RequestLine::look_at_deadlines() {
  const auto self = shared_from_this();
  const TimePoint now = env().now();
  Requests waiting = take_overdue_waiting(now);
  Requests written = take_overdue_written(now);
  TimePoint next = TimePoint::max();
  for (const Request& request : ring_) {
    if (!request.answered) next = std::min(next, request.answer_by);
  }
  if (next != TimePoint::max()) deadline_timer_.set(next);
  answer(std::move(waiting), never_left());
  answer(std::move(written), error_at(target(), Errc::unknown_outcome, "no answer in time"));
  if (!abandoned()) give_up_if_stuck(now);
}

// A server that hangs must not keep what is sent next: it gets a connection of its own.
void RequestLine::give_up_if_stuck(TimePoint now) {
  const auto written_end = ring_.begin() + static_cast<std::ptrdiff_t>(written_);
  if (std::none_of(ring_.begin(), written_end, std::mem_fn(&Request::answered))) return;
  if (now - silent_since_ < silence_) return deadline_timer_.set(silent_since_ + silence_);
  give_up("no answer in time");
}

RequestLine::Requests RequestLine::take_written() {
  Requests taken;
  for (; written_ > 0; --written_) {
    taken.push_back(std::move(ring_.front()));
    ring_.pop_front();
  }
  return taken;
}

RequestLine::Requests RequestLine::take_waiting() {
  Requests taken;
  const auto first = ring_.begin() + static_cast<std::ptrdiff_t>(written_);
  std::move(first, ring_.end(), std::back_inserter(taken));
  ring_.erase(first, ring_.end());
  return taken;
}

RequestLine::Requests RequestLine::take_overdue_waiting(TimePoint now) {
  Requests taken;
  const auto first = ring_.begin() + static_cast<std::ptrdiff_t>(written_);
  const auto overdue = std::stable_partition(
      first, ring_.end(), [now](const Request& request) { return request.answer_by > now; });
  std::move(overdue, ring_.end(), std::back_inserter(taken));
  ring_.erase(overdue, ring_.end());
  return taken;
}

// They keep their places, for the replies that may still come.
RequestLine::Requests RequestLine::take_overdue_written(TimePoint now) {
  Requests taken;
  for (std::size_t at = 0; at < written_; ++at) {
    Request& request = ring_[at];
    if (request.answered || request.answer_by > now) continue;
    taken.push_back({.call = nullptr,
                     .words = {},
                     .answer_by = request.answer_by,
                     .on_answer = std::move(request.on_answer)});
    request.answered = true;
  }
  return taken;
}

void RequestLine::answer(Requests requests, const Error& error) {
  for (Request& request : requests) {
    if (abandoned()) return;
    if (!request.answered) request.on_answer(Result<Reply>{Unexpected{error}});
  }
}

Error RequestLine::never_left() const {
  if (last_failure()) return {Errc::unavailable, last_failure()->error.message};
  return error_at(target(), Errc::unavailable, "the request could not be sent in time");
}

void RequestLine::retire() {
  const auto self = shared_from_this();
  answer(take_waiting(), never_left());
}

void RequestLine::close() {
  Line::close();
  // Dropping a callback unwinds its task, which may reach for this line.
  const auto dropped = std::exchange(ring_, boost::circular_buffer<Request>{kFirstRing});
  written_ = 0;
}

}  // namespace holdfast::redis
