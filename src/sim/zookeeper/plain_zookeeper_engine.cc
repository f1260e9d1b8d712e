#include "sim/zookeeper/plain_zookeeper_engine.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/alarm.h"
#include "core/validity.h"
#include "sim/zookeeper/zookeeper_tree.h"

namespace holdfast::sim {

using namespace zookeeper;

namespace {

// A lost message of a watch must not make a waiter hang.
constexpr Duration kLookAgain = std::chrono::seconds{1};
constexpr std::string_view kBeforeNumber = "-lock-";

std::string number_of(const std::string& node) {
  return node.substr(node.find(kBeforeNumber) + kBeforeNumber.size());
}

AcquireError timed_out() { return {Errc::timeout, "somebody else has the lock"}; }

Error ended() { return {Errc::lost, "the session has ended"}; }

bool may_have_run(const Error& error) { return error.code == Errc::unknown_outcome; }

}  // namespace

struct PlainZookeeperEngine::Session {
  std::unique_ptr<ZookeeperSession> at_server;
  bool over{false};
  /// Those that wait for news of a node.
  std::vector<std::shared_ptr<Alarm>> waiting;
};

/// One place in a lock's line.
struct PlainZookeeperEngine::Contender {
  std::shared_ptr<Session> session;
  std::string parent;
  std::string id;
  Millis ttl{};
  /// Its node, once that is known.
  std::string node{};
  /// When the last request left that was answered.
  TimePoint asked_at{};
  /// Until when whoever wants it waits for answers.
  TimePoint last_word{TimePoint::max()};
  std::string before{};

  std::string path() const { return parent + "/" + node; }
};

std::shared_ptr<PlainZookeeperEngine::Session> PlainZookeeperEngine::session_of(Millis ttl) {
  std::shared_ptr<Session>& session = sessions_[ttl];
  if (session && !session->over) return session;
  session = std::make_shared<Session>();
  const auto hear = [to = std::weak_ptr{session}](const SessionEvent& event) {
    const auto heard = to.lock();
    if (!heard) return;
    if (event.kind == SessionEvent::Kind::expired) heard->over = true;
    for (const auto& alarm : heard->waiting) alarm->ring();
  };
  session->at_server = port_->open({.timeout = ttl}, hear);
  return session;
}

Task<Result<Answer>> PlainZookeeperEngine::ask(Contender& mine, Request request, TimePoint until) {
  const TimePoint sent_at = env_.now();
  const SharedRequest shared = share(std::move(request));
  const TimePoint answer_by = std::min({until, mine.last_word, sent_at + settings_.timeout});
  Result<Answer> answer = co_await mine.session->at_server->answered(shared, answer_by);
  if (answer) mine.asked_at = sent_at;
  co_return answer;
}

Task<Result<void>> PlainZookeeperEngine::make_parents(Contender& mine) {
  const Request base = Create{.path = parent_of(mine.parent)};
  const Request lock = Create{.path = mine.parent, .kind = Create::Kind::container};
  const auto made_base = co_await ask(mine, base);
  if (!made_base) co_return Unexpected{made_base.error()};
  const auto made_lock = co_await ask(mine, lock);
  if (!made_lock) co_return Unexpected{made_lock.error()};
  co_return Result<void>{};
}

Task<Result<void>> PlainZookeeperEngine::stand_in_line(Contender& mine, TimePoint until) {
  const Request create =
      Create{.path = mine.parent + "/" + mine.id, .kind = Create::Kind::ephemeral_sequential};
  while (true) {
    const auto made = co_await ask(mine, create);
    if (made && made->verdict == Verdict::done) {
      mine.node = made->path.substr(mine.parent.size() + 1);
      co_return Result<void>{};
    }
    // It may be there already.
    if (!made && may_have_run(made.error())) co_return Result<void>{};
    if (!made && made.error().code == Errc::lost) co_return Unexpected{made.error()};
    if (env_.now() >= until) co_return Unexpected{timed_out()};
    const auto parents = co_await make_parents(mine);
    if (!parents) co_await env_.sleep_for(settings_.timeout / 4);
  }
}

Task<Result<bool>> PlainZookeeperEngine::look(Contender& mine) {
  const Request list = List{.path = mine.parent};
  auto answer = co_await ask(mine, list);
  if (!answer) co_return Unexpected{answer.error()};
  std::vector<std::string>& nodes = answer->children;
  std::ranges::sort(nodes, {}, number_of);
  const auto own =
      std::ranges::find_if(nodes, [&](const std::string& one) { return one.starts_with(mine.id); });
  if (own == nodes.end()) co_return Unexpected{ended()};
  mine.node = *own;
  const bool first = own == nodes.begin();
  mine.before = first ? "" : mine.parent + "/" + *(own - 1);
  co_return first;
}

Task<Result<void>> PlainZookeeperEngine::wait_for(Contender& mine, TimePoint until) {
  const auto alarm = std::make_shared<Alarm>(env_);
  const auto session = mine.session;
  session->waiting.push_back(alarm);
  const Request read = Read{.path = mine.before, .watching = Watching::yes};
  const auto there = co_await ask(mine, read);
  if (there && there->verdict == Verdict::done && !session->over) {
    const TimePoint due = std::min(until, env_.now() + kLookAgain);
    co_await alarm->wait_until(due);
    session->at_server->unwatch(mine.before);
  }
  std::erase(session->waiting, alarm);
  if (session->over) co_return Unexpected{ended()};
  co_return Result<void>{};
}

Task<Result<void>> PlainZookeeperEngine::become_first(Contender& mine, TimePoint wait_until) {
  const TimePoint last_word = wait_until + settings_.patience / 2;
  mine.last_word = last_word + settings_.timeout;
  auto done = co_await stand_in_line(mine, last_word);
  while (done) {
    const auto first = co_await look(mine);
    if (first && *first) co_return Result<void>{};
    if (!first && first.error().code == Errc::lost) co_return Unexpected{first.error()};
    if (env_.now() >= (first ? wait_until : last_word)) co_return Unexpected{timed_out()};
    if (first) {
      done = co_await wait_for(mine, wait_until);
    } else {
      co_await env_.sleep_for(settings_.timeout / 4);
    }
  }
  co_return done;
}

PlainZookeeperEngine::ContenderPtr PlainZookeeperEngine::enter(const core::LockRequest& request) {
  const auto mine = std::make_shared<Contender>();
  mine->session = session_of(request.ttl);
  mine->parent = "/hf/" + std::string{request.name.text()};
  mine->id = "_c_" + std::to_string(env_.draw()) + std::string{kBeforeNumber};
  mine->ttl = request.ttl;
  contenders_[request.owner] = mine;
  return mine;
}

Task<Result<core::Grant, AcquireError>> PlainZookeeperEngine::acquire(core::LockRequest request,
                                                                      TimePoint wait_until,
                                                                      std::stop_token) {
  const auto self = shared_from_this();
  wait_until = std::max(wait_until, env_.now());
  while (true) {
    const ContenderPtr mine = enter(request);
    const Result<void> first = co_await become_first(*mine, wait_until);
    mine->last_word = TimePoint::max();
    const TimePoint deadline = core::deadline_of(mine->asked_at, mine->ttl);
    if (first && env_.now() < deadline) {
      co_return core::Grant{.sent_at = mine->asked_at, .valid_until = deadline};
    }
    abandon(request.name, request.owner, request.ttl);
    const Error error = first ? Error{timed_out()} : first.error();
    // It begins anew with another session.
    if (error.code == Errc::lost && env_.now() < wait_until) continue;
    const Errc code = error.code == Errc::lost ? Errc::unavailable : error.code;
    co_return Unexpected{AcquireError{code, error.message}};
  }
}

Task<Result<std::vector<core::Fate>>> PlainZookeeperEngine::renew(
    std::vector<core::HeldLease> leases, Millis, TimePoint answer_by) {
  const auto self = shared_from_this();
  std::vector<core::Fate> fates;
  for (const core::HeldLease& lease : leases) {
    const auto known = contenders_.find(lease.owner);
    if (known == contenders_.end()) {
      fates.push_back(core::Fate::gone);
      continue;
    }
    const ContenderPtr mine = known->second;
    const Request read = Read{.path = mine->path()};
    const auto found = co_await ask(*mine, read, answer_by);
    const bool gone = found ? found->verdict == Verdict::no_node : mine->session->over;
    fates.push_back(gone ? core::Fate::gone : found ? core::Fate::renewed : core::Fate::unknown);
  }
  co_return fates;
}

Task<ReleaseOutcome> PlainZookeeperEngine::release(core::HeldLease lease,
                                                   TimePoint,
                                                   TimePoint answer_by) {
  const auto self = shared_from_this();
  const auto known = contenders_.find(lease.owner);
  if (known == contenders_.end()) co_return ReleaseOutcome::already_lost;
  const ContenderPtr mine = known->second;
  const Request erase = Erase{.path = mine->path()};
  bool tried = false;
  while (env_.now() < answer_by && !mine->session->over) {
    const auto answer = co_await ask(*mine, erase, answer_by);
    if (answer) {
      contenders_.erase(lease.owner);
      const bool gone = answer->verdict == Verdict::no_node && !tried;
      co_return gone ? ReleaseOutcome::already_lost : ReleaseOutcome::released;
    }
    tried = tried || may_have_run(answer.error());
    const TimePoint again = std::min(answer_by, env_.now() + settings_.timeout / 4);
    co_await env_.sleep_until(again);
  }
  const bool over = mine->session->over;
  abandon(lease.name, lease.owner, mine->ttl);
  co_return over && !tried ? ReleaseOutcome::already_lost : ReleaseOutcome::unknown;
}

// An orphan would block everybody as long as the session lives, and what was sent may run late.
Task<void> PlainZookeeperEngine::leave(ContenderPtr mine, TimePoint until) {
  const auto self = shared_from_this();
  while (!mine->session->over) {
    const auto found = co_await look(*mine);
    const bool not_there = !found && found.error().code == Errc::lost;
    if (found || (!not_there && !mine->node.empty())) {
      const Request erase = Erase{.path = mine->path()};
      const auto erased = co_await ask(*mine, erase);
      if (erased) co_return;
    }
    if (not_there && env_.now() >= until) co_return;
    co_await env_.sleep_for(mine->ttl / 3);
  }
}

void PlainZookeeperEngine::abandon(LockName, Owner owner, Millis ttl) {
  const auto contender = contenders_.extract(owner);
  if (!contender.empty()) env_.spawn(leave(contender.mapped(), env_.now() + ttl * 5));
}

}  // namespace holdfast::sim
