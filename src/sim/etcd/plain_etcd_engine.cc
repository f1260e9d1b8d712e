#include "sim/etcd/plain_etcd_engine.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/alarm.h"
#include "core/validity.h"

namespace holdfast::sim {

using namespace etcd;

namespace {

// A lost message of a watch must not make a waiter hang.
constexpr Duration kLookAgain = std::chrono::seconds{1};

std::string hex_of(LeaseId lease) {
  char text[17];
  const int size =
      std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(lease.number));
  return {text, static_cast<std::size_t>(size)};
}

/// Where one task waits for what a callback brings.
template <class T>
struct Box {
  explicit Box(Env& env) : alarm{env} {}
  Alarm alarm;
  std::optional<T> answer{};
};

AcquireError timed_out() { return {Errc::timeout, "somebody else has the lock"}; }

}  // namespace

/// One place in a lock's line.
struct PlainEtcdEngine::Contender {
  std::string prefix;
  LeaseId lease{};
  Millis ttl{};
  std::string key{};
  Revision created{0};
  /// When the last request left that made or kept the session.
  TimePoint kept_at{};
  /// Whom it waits for, and from where on to watch it.
  std::string before{};
  Revision watch_from{0};
};

TimePoint PlainEtcdEngine::request_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + settings_.timeout);
}

Task<Result<LeaseAnswer>> PlainEtcdEngine::ask(Call call, LeaseId lease, TimePoint answer_by) {
  const auto box = std::make_shared<Box<Result<LeaseAnswer>>>(env_);
  (port_.get()->*call)(lease, answer_by, [box](Result<LeaseAnswer> answer) {
    box->answer = std::move(answer);
    box->alarm.ring();
  });
  co_await box->alarm.wait_until(TimePoint::max());
  co_return *std::move(box->answer);
}

Task<Result<void>> PlainEtcdEngine::open_session(Contender& mine) {
  const auto box = std::make_shared<Box<Result<LeaseAnswer>>>(env_);
  const auto ttl = std::chrono::ceil<Seconds>(mine.ttl);
  mine.kept_at = env_.now();
  port_->grant(mine.lease, ttl, mine.kept_at + settings_.timeout, [box](Result<LeaseAnswer> given) {
    box->answer = std::move(given);
    box->alarm.ring();
  });
  co_await box->alarm.wait_until(TimePoint::max());
  if (!*box->answer) co_return Unexpected{box->answer->error()};
  co_return Result<void>{};
}

Task<Result<void>> PlainEtcdEngine::stand_in_line(Contender& mine) {
  mine.key = mine.prefix + hex_of(mine.lease);
  const SharedTxn txn = share({.when = {{.key = mine.key, .what = Compare::What::created}},
                               .then = {Put{.key = mine.key, .lease = mine.lease}},
                               .otherwise = {Range{.keys = {.key = mine.key}}}});
  const TimePoint answer_by = env_.now() + settings_.timeout;
  const Result<TxnAnswer> answer = co_await port_->committed(txn, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  mine.created = answer->held ? answer->header.revision : answer->answers.at(0).found.at(0).created;
  co_return Result<void>{};
}

Task<Result<void>> PlainEtcdEngine::keep_session(Contender& mine) {
  const TimePoint sent_at = env_.now();
  const auto answer = co_await ask(&EtcdPort::keep_alive, mine.lease, sent_at + settings_.timeout);
  if (answer && answer->ttl == Seconds{0}) {
    co_return Unexpected{Error{Errc::unavailable, "the session has ended"}};
  }
  if (answer) mine.kept_at = sent_at;
  co_return Result<void>{};
}

Task<Result<bool>> PlainEtcdEngine::look(Contender& mine) {
  const Range before{.keys = starting_with(mine.prefix),
                     .order = Range::Order::newest_first,
                     .limit = 1,
                     .created_by = mine.created - 1};
  const SharedTxn txn = share({.then = {before, Range{.keys = {.key = mine.key}}}});
  const TimePoint answer_by = env_.now() + settings_.timeout;
  const Result<TxnAnswer> answer = co_await port_->committed(txn, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->answers.at(1).found.empty()) {
    co_return Unexpected{Error{Errc::unavailable, "the session has ended"}};
  }
  mine.watch_from = answer->header.revision + 1;
  const auto& found = answer->answers.at(0).found;
  mine.before = found.empty() ? "" : found.front().key;
  co_return found.empty();
}

Task<Result<void>> PlainEtcdEngine::wait_for(Contender& mine, TimePoint until) {
  const auto box = std::make_shared<Box<bool>>(env_);
  const Watch watch{
      .keys = {.key = mine.before}, .from = mine.watch_from, .only = Watch::Only::erasures};
  const WatchId id = port_->watch(watch, [box](const WatchNews& news) {
    if (news.kind != WatchNews::Kind::watching) box->alarm.ring();
  });
  const TimePoint keep_at = mine.kept_at + mine.ttl / 3;
  const TimePoint due = std::min({until, keep_at, env_.now() + kLookAgain});
  co_await box->alarm.wait_until(due);
  port_->unwatch(id);
  if (env_.now() >= keep_at) co_return co_await keep_session(mine);
  co_return Result<void>{};
}

Task<Result<void>> PlainEtcdEngine::become_first(Contender& mine, TimePoint wait_until) {
  const TimePoint last_word = wait_until + settings_.patience / 2;
  auto done = co_await open_session(mine);
  if (done) done = co_await stand_in_line(mine);
  while (done) {
    const auto first = co_await look(mine);
    if (first && *first) co_return Result<void>{};
    if (!first && first.error().code != Errc::unknown_outcome) co_return Unexpected{first.error()};
    if (env_.now() >= (first ? wait_until : last_word)) co_return Unexpected{timed_out()};
    if (first) done = co_await wait_for(mine, wait_until);
  }
  co_return done;
}

Task<Result<core::Grant, AcquireError>> PlainEtcdEngine::acquire(core::LockRequest request,
                                                                 TimePoint wait_until,
                                                                 std::stop_token) {
  const auto self = shared_from_this();
  Contender mine{.prefix = "hf/" + std::string{request.name.text()} + '/', .ttl = request.ttl};
  mine.lease = {static_cast<std::int64_t>(env_.draw() >> 2) + 1};
  sessions_[request.owner] = mine.lease;
  wait_until = std::max(wait_until, env_.now());
  const Result<void> first = co_await become_first(mine, wait_until);
  const TimePoint deadline = core::deadline_of(mine.kept_at, mine.ttl);
  if (first && env_.now() < deadline) {
    co_return core::Grant{.sent_at = mine.kept_at, .valid_until = deadline};
  }
  abandon(request.name, request.owner, request.ttl);
  if (first) co_return Unexpected{timed_out()};
  co_return Unexpected{AcquireError{first.error()}};
}

Task<Result<std::vector<core::Fate>>> PlainEtcdEngine::renew(std::vector<core::HeldLease> leases,
                                                             Millis,
                                                             TimePoint answer_by) {
  const auto self = shared_from_this();
  std::vector<core::Fate> fates;
  for (const core::HeldLease& lease : leases) {
    const TimePoint end = request_end(answer_by);
    const auto answer = co_await ask(&EtcdPort::keep_alive, sessions_[lease.owner], end);
    fates.push_back(!answer                     ? core::Fate::unknown
                    : answer->ttl == Seconds{0} ? core::Fate::gone
                                                : core::Fate::renewed);
  }
  co_return fates;
}

Task<ReleaseOutcome> PlainEtcdEngine::release(core::HeldLease lease,
                                              TimePoint,
                                              TimePoint answer_by) {
  const auto self = shared_from_this();
  const LeaseId session = sessions_[lease.owner];
  bool tried = false;
  while (env_.now() < answer_by) {
    const TimePoint end = request_end(answer_by);
    const auto answer = co_await ask(&EtcdPort::revoke, session, end);
    if (answer) {
      sessions_.erase(lease.owner);
      const bool gone = answer->ttl == Seconds{0} && !tried;
      co_return gone ? ReleaseOutcome::already_lost : ReleaseOutcome::released;
    }
    tried = tried || answer.error().code == Errc::unknown_outcome;
    const TimePoint again = std::min(answer_by, env_.now() + settings_.timeout / 4);
    if (answer.error().code == Errc::unavailable) co_await env_.sleep_until(again);
  }
  co_return ReleaseOutcome::unknown;
}

Task<void> PlainEtcdEngine::end_session(LeaseId lease, TimePoint until) {
  const auto self = shared_from_this();
  while (env_.now() < until) {
    const TimePoint end = request_end(until);
    const auto answer = co_await ask(&EtcdPort::revoke, lease, end);
    if (answer) co_return;
    co_await env_.sleep_for(settings_.timeout / 4);
  }
}

void PlainEtcdEngine::abandon(LockName, Owner owner, Millis ttl) {
  const auto session = sessions_.extract(owner);
  if (!session.empty()) env_.spawn(end_session(session.mapped(), env_.now() + ttl));
}

}  // namespace holdfast::sim
