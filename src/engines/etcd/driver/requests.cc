#include "engines/etcd/driver/requests.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

/// Once for a token that is too old, once for users that change meanwhile.
constexpr int kTokenFailuresMax = 3;

}  // namespace

Requests::Requests(Env& env, Route& route, CompletionLoop& loop, Cancellables& calls)
    : env_{env}, route_{route}, loop_{loop}, calls_{calls}, deadline_timer_{env, [this] {
                                                                              fail_overdue();
                                                                            }} {
  route_.add_user(*this);
}

void Requests::send(std::unique_ptr<Request> request) {
  if (!route_.is_ready() || request->answer_by() <= env_.now()) return wait(std::move(request));
  begin(std::move(request), route_.attempt());
}

void Requests::begin(std::unique_ptr<Request> request, Request::Attempt attempt) {
  route_.sign(request->prepare(std::move(attempt)));
  if (!request->is_linked()) calls_.push_back(*request);
  ++sent_;
  Request::begin(std::move(request), loop_.queue());
}

void Requests::wait(std::unique_ptr<Request> request) {
  deadline_timer_.set(request->answer_by());
  waiting_.push_back(std::move(request));
  route_.want();
}

void Requests::on_ready() {
  auto ready = std::exchange(waiting_, {});
  for (auto& request : ready) send(std::move(request));
}

void Requests::on_refused(const Error& why) {
  for (auto& request : std::exchange(waiting_, {})) request->fail(why);
}

void Requests::fail_overdue() {
  if (!loop_.is_open()) return;
  const TimePoint now = env_.now();
  std::deque<std::unique_ptr<Request>> overdue;
  for (auto& request : std::exchange(waiting_, {})) {
    const bool is_overdue = request->answer_by() <= now;
    if (!is_overdue) deadline_timer_.set(request->answer_by());
    (is_overdue ? overdue : waiting_).push_back(std::move(request));
  }
  for (auto& request : overdue) request->fail(route_.why_not());
}

void Requests::ended(std::unique_ptr<Request> request) {
  if (request->status().ok()) {
    route_.confirm();
    return request->succeed();
  }
  const Failure failure = request->failure();
  const Request::Attempt& attempt = request->attempt();
  // The server knows the deadline too, and has words of its own for it.
  const bool is_late = request->status().error_code() == grpc::DEADLINE_EXCEEDED ||
                       request->answer_by() <= env_.now();
  if (is_late) {
    route_.overdue(attempt.visit, attempt.now, failure.error);
  } else if (failure.endpoint == Failure::Endpoint::doubtful) {
    route_.doubt(attempt.visit, failure.error);
  } else {
    route_.confirm();
  }
  switch (failure.fate) {
    case Failure::Fate::not_run:
    case Failure::Fate::not_here:
      return send(std::move(request));
    case Failure::Fate::token:
      if (!route_.has_credentials() || ++request->token_failures > kTokenFailuresMax) break;
      route_.renew_token(request->attempt().token_number);
      return send(std::move(request));
    case Failure::Fate::unknown:
    case Failure::Fate::refused:
      break;
  }
  request->fail(failure.error);
}

void Requests::Direct::send(std::unique_ptr<Request> request, Request::Attempt attempt) {
  all_.begin(std::move(request), std::move(attempt));
}

void Requests::Direct::ended(std::unique_ptr<Request> request) {
  if (request->status().ok()) return request->succeed();
  request->fail(request->failure().error);
}

}  // namespace holdfast::etcd
