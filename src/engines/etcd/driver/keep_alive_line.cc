#include "engines/etcd/driver/keep_alive_line.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {

KeepAliveLine::KeepAliveLine(Env& env, Route& route, CompletionLoop& loop, Cancellables& calls)
    : env_{env}, route_{route}, loop_{loop}, calls_{calls}, deadline_timer_{env, [this] {
                                                                              fail_overdue();
                                                                            }} {
  route_.add_user(*this);
}

void KeepAliveLine::keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  deadline_timer_.set(answer_by);
  waiting_.push_back({lease, answer_by, std::move(on_answer)});
  if (route_.is_ready()) return on_ready();
  route_.want();
}

void KeepAliveLine::on_ready() {
  if (waiting_.empty()) return;
  if (!stream_) open();
  for (Ask& ask : std::exchange(waiting_, {})) write(std::move(ask));
}

void KeepAliveLine::open() {
  place_ = route_.attempt();
  stream_ = std::make_shared<Line>(*this);
  calls_.push_back(*stream_);
  route_.sign(stream_->context());
  stream_->open(place_.channel, kKeepAliveMethod, loop_.queue());
}

void KeepAliveLine::write(Ask ask) {
  wire::LeaseKeepAliveRequest request;
  request.set_id(ask.lease.number);
  stream_->write(std::move(request));
  ++written_;
  asked_.push_back(std::move(ask));
}

void KeepAliveLine::on_message(wire::LeaseKeepAliveResponse& message) {
  route_.hear();
  const auto ask = std::ranges::find(asked_, LeaseId{message.id()}, &Ask::lease);
  if (ask == asked_.end()) return;
  OnLease on_answer = std::move(ask->on_answer);
  asked_.erase(ask);
  on_answer(LeaseAnswer{.header = from_wire(message.header()),
                        .ttl = Seconds{std::max<std::int64_t>(message.ttl(), 0)}});
}

void KeepAliveLine::on_end(const grpc::Status& status) {
  stream_.reset();
  const Failure failure = failure_of(place_.endpoint, status);
  Asks asked = std::exchange(asked_, {});
  if (failure.fate == Failure::Fate::token && route_.has_credentials()) {
    // The first was refused, and those behind it were not looked at.
    std::ranges::move(asked, std::back_inserter(waiting_));
    route_.renew_token(place_.token_number);
    if (route_.is_ready()) on_ready();
    return;
  }
  if (failure.fate == Failure::Fate::refused) return fail(std::move(asked), failure.error);
  route_.doubt(place_.visit, failure.error);
  Error why = failure.error;
  why.code = Errc::unknown_outcome;
  fail(std::move(asked), why);
}

void KeepAliveLine::on_moved(const Error& why) {
  Error unknown = why;
  unknown.code = Errc::unknown_outcome;
  break_off(unknown);
}

void KeepAliveLine::on_refused(const Error& why) { fail(std::exchange(waiting_, {}), why); }

void KeepAliveLine::break_off(const Error& why) {
  if (stream_) std::exchange(stream_, nullptr)->leave();
  fail(std::exchange(asked_, {}), why);
}

// An answer that comes too late must not pass for that of a later question, so that the stream goes
// with the question.
void KeepAliveLine::fail_overdue() {
  if (!loop_.is_open()) return;
  const TimePoint now = env_.now();
  const auto is_overdue = [now](const Ask& ask) { return ask.answer_by <= now; };
  if (std::ranges::any_of(asked_, is_overdue)) {
    const Error why = error_at(place_.endpoint, Errc::unknown_outcome, "no answer in time");
    const std::uint64_t visit = place_.visit;
    break_off(why);
    route_.doubt(visit, why);
  }
  Asks overdue;
  for (Ask& ask : std::exchange(waiting_, {})) {
    (is_overdue(ask) ? overdue : waiting_).push_back(std::move(ask));
  }
  for (const Asks* asks : {&waiting_, &asked_}) {
    for (const Ask& ask : *asks) deadline_timer_.set(ask.answer_by);
  }
  fail(std::move(overdue), route_.why_not());
}

void KeepAliveLine::fail(Asks asks, const Error& why) {
  for (Ask& ask : asks) ask.on_answer(Unexpected{why});
}

}  // namespace holdfast::etcd
