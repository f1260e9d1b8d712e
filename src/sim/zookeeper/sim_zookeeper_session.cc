#include "sim/zookeeper/sim_zookeeper_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/zookeeper/zookeeper_refusals.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using namespace zookeeper;
using Kind = SessionEvent::Kind;

constexpr std::array<std::string_view, 8> kNames{
    "create", "erase", "write", "multi", "read", "exists", "list", "sync"};
constexpr std::array<std::string_view, 7> kVerdicts{
    "done", "no node", "exists", "bad version", "not empty", "no children allowed", "not done"};

std::string describe(const Answer& answer) {
  std::string text{kVerdicts.at(static_cast<std::size_t>(answer.verdict))};
  if (!answer.path.empty()) text += " " + answer.path;
  if (answer.stat.created != 0) text += " of " + std::to_string(answer.stat.created);
  for (const std::string& child : answer.children) text += ", " + child;
  return text;
}

Result<Answer> failed(Errc code, const char* why) { return Unexpected{Error{code, why}}; }

}  // namespace

SimZookeeperSession::SimZookeeperSession(SimZookeeperPort::Route route,
                                         SessionAsk ask,
                                         OnEvent on_event)
    : route_{std::move(route)},
      on_event_{std::move(on_event)},
      timeout_{std::max(ask.timeout, ZookeeperEnsemble::kTimeoutMin)},
      ask_{std::move(ask)},
      next_member_{route_.env.draw() % route_.ends.members.size()} {}

void SimZookeeperSession::begin() {
  route_.env.call_at(route_.env.now(), [self = shared_from_this()] { self->connect(); });
}

void SimZookeeperSession::connect() {
  if (phase_ == Phase::over) return;
  Scheduler& scheduler = route_.ensemble.scheduler();
  const std::size_t member =
      std::exchange(next_member_, (next_member_ + 1) % route_.ends.members.size());
  const HostId mine = route_.ends.client;
  const HostId its = route_.ends.members[member];
  link_ = std::make_shared<Link>(Link{
      .member = member,
      .up = std::make_shared<SimPipe>(scheduler, route_.network, mine, its, Direction::request),
      .down = std::make_shared<SimPipe>(scheduler, route_.network, its, mine, Direction::reply)});
  link_->asked_at = link_->heard_at = link_->said_at = route_.env.now();
  const ZookeeperHello hello{.timeout = ask_.timeout, .resume = ask_.resume, .seen = seen_};
  say(kOfNoRequest,
      [self = shared_from_this(), hello](const LinkPtr& link) { self->arrive(link, hello); });
  keep_up(link_);
}

void SimZookeeperSession::arrive(const LinkPtr& link, const ZookeeperHello& hello) {
  const auto answer = [self = shared_from_this(), link](ZookeeperWord word) {
    self->say_back(link, std::move(word));
  };
  link->there = route_.ensemble.connect(link->member, hello, answer);
}

void SimZookeeperSession::say_back(const LinkPtr& link, ZookeeperWord word) {
  std::uint64_t number = kOfNoRequest;
  if (const auto* reply = std::get_if<ZookeeperReply>(&word.what)) {
    number = reply->number;
    Trace& trace = route_.network.trace();
    const HostId server = route_.ends.members[link->member];
    const std::string_view name = link->asked[number];
    trace.note(route_.network.now(), EventKind::ran, server, route_.ends.client, number, name);
    if (trace.keeps()) trace.explain(describe(reply->answer));
  }
  link->down->send(number, [self = shared_from_this(), link, word = std::move(word)] {
    self->route_.env.post([self, link, word] { self->hear(link, word); });
  });
}

// What was said before a connection is cut may still arrive.
void SimZookeeperSession::say(std::uint64_t number, std::function<void(const LinkPtr&)> at_member) {
  link_->said_at = route_.env.now();
  link_->up->send(number, [link = link_, at_member = std::move(at_member)] { at_member(link); });
}

void SimZookeeperSession::hear(const LinkPtr& link, const ZookeeperWord& word) {
  if (phase_ == Phase::over || link_ != link) return;
  link->heard_at = route_.env.now();
  // Neither a welcome nor an event says how far its member is.
  const bool says = std::holds_alternative<ZookeeperReply>(word.what) ||
                    std::holds_alternative<ZookeeperPong>(word.what);
  if (says) seen_ = std::max(seen_, word.zxid);
  if (const auto* welcome = std::get_if<ZookeeperWelcome>(&word.what))
    return hear_welcome(*welcome);
  if (const auto* reply = std::get_if<ZookeeperReply>(&word.what)) return hear_reply(*reply);
  if (const auto* news = std::get_if<ZookeeperNews>(&word.what)) return hear_news(*news);
  if (const auto* closed = std::get_if<ZookeeperClosed>(&word.what)) disconnect(closed->why);
}

void SimZookeeperSession::hear_welcome(const ZookeeperWelcome& welcome) {
  if (welcome.timeout == Millis{0}) return expire();
  phase_ = Phase::connected;
  refusals_ = 0;
  timeout_ = welcome.timeout;
  ask_.resume = welcome.key;
  if (closing_) return say_goodbye();
  if (!watches_.empty()) {
    ZookeeperEnsemble& ensemble = route_.ensemble;
    say(kOfNoRequest, [&ensemble, watches = watches_, since = seen_](const LinkPtr& link) {
      ensemble.watch_again(link->there, watches, since);
    });
  }
  const std::deque<PendingPtr> waiting = pending_;
  tell({.kind = Kind::connected,
        .key = welcome.key,
        .timeout = welcome.timeout,
        .asked_at = link_->asked_at});
  for (const PendingPtr& one : waiting) {
    if (phase_ == Phase::connected && !one->left && !one->over) depart(one);
  }
}

void SimZookeeperSession::hear_reply(const ZookeeperReply& reply) {
  const auto found = std::ranges::find(pending_, reply.number, &Pending::number);
  if (found == pending_.end()) return;
  const PendingPtr pending = *found;
  if (!pending->unwatched) note_watch(*pending->request, reply.answer.verdict);
  finish(pending, reply.answer);
}

void SimZookeeperSession::note_watch(const Request& request, Verdict verdict) {
  const bool there = verdict == Verdict::done;
  if (const auto* read = std::get_if<Read>(&request)) {
    if (there && read->watching == Watching::yes) watches_.data.insert(read->path);
  } else if (const auto* exists = std::get_if<Exists>(&request)) {
    if (exists->watching == Watching::no) return;
    (there ? watches_.data : watches_.missing).insert(exists->path);
  } else if (const auto* list = std::get_if<List>(&request)) {
    if (there && list->watching == Watching::yes) watches_.children.insert(list->path);
  }
}

void SimZookeeperSession::hear_news(const ZookeeperNews& news) {
  const std::string& path = news.change.path;
  const SessionEvent::Change what = news.change.what;
  std::size_t had = 0;
  if (what != SessionEvent::Change::children) {
    had += watches_.data.erase(path) + watches_.missing.erase(path);
  }
  if (what == SessionEvent::Change::children || what == SessionEvent::Change::erased) {
    had += watches_.children.erase(path);
  }
  if (had > 0) tell({.kind = Kind::changed, .path = path, .change = what});
}

void SimZookeeperSession::keep_up(const LinkPtr& link) {
  if (phase_ == Phase::over || link_ != link) return;
  const TimePoint now = route_.env.now();
  const bool connected = phase_ == Phase::connected;
  const TimePoint leave_at =
      connected ? link->heard_at + timeout_ * 2 / 3 : link->asked_at + timeout_ / 3;
  if (now >= leave_at) return disconnect("the server does not answer");
  const TimePoint ask_at = link->said_at + timeout_ / 3;
  if (connected && now >= ask_at) {
    ZookeeperEnsemble& ensemble = route_.ensemble;
    say(kOfNoRequest, [&ensemble](const LinkPtr& at) { ensemble.ping(at->there); });
  }
  const TimePoint again = connected ? std::min(leave_at, link->said_at + timeout_ / 3) : leave_at;
  route_.env.call_at(again, [self = shared_from_this(), link] { self->keep_up(link); });
}

void SimZookeeperSession::cut_link() {
  if (!link_) return;
  link_->down->close();
  ZookeeperEnsemble& ensemble = route_.ensemble;
  // A process that was killed says nothing more.
  if (!route_.env.killed()) {
    say(kOfNoRequest, [&ensemble](const LinkPtr& link) {
      if (link->there) ensemble.hang_up(link->there);
    });
  }
  link_.reset();
}

void SimZookeeperSession::disconnect(const std::string& why) {
  const bool was_connected = std::exchange(phase_, Phase::connecting) == Phase::connected;
  const bool closed = link_->goodbye && closing_;
  cut_link();
  if (closed) return expire();
  connect_later();
  for (const PendingPtr& one : std::deque<PendingPtr>{pending_}) {
    if (one->left) finish(one, failed(Errc::unknown_outcome, "the connection broke"));
  }
  if (was_connected) {
    tell({.kind = Kind::disconnected, .error = Error{Errc::unavailable, why}});
  }
}

void SimZookeeperSession::connect_later() {
  const bool tried_all = ++refusals_ % route_.ends.members.size() == 0;
  const Duration most = tried_all ? 300ms : 20ms;
  const auto share = static_cast<Duration::rep>(route_.env.draw() % 1000);
  const TimePoint when = route_.env.now() + most * share / 1000;
  route_.env.call_at(when, [self = shared_from_this()] {
    if (self->phase_ == Phase::connecting && !self->link_) self->connect();
  });
}

void SimZookeeperSession::expire() {
  phase_ = Phase::over;
  cut_link();
  const std::deque<PendingPtr> pending = std::exchange(pending_, {});
  tell({.kind = Kind::expired});
  for (const PendingPtr& one : pending) {
    finish(one,
           one->left ? failed(Errc::unknown_outcome, "the session ended before the answer came")
                     : failed(Errc::lost, "the session is over"));
  }
}

void SimZookeeperSession::send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) {
  if (route_.env.killed()) return;
  const auto pending = std::make_shared<Pending>(Pending{.number = route_.network.next_number(),
                                                         .request = std::move(request),
                                                         .on_answer = std::move(on_answer)});
  const auto self = shared_from_this();
  std::optional<Error> refusal = refusal_of(*pending->request);
  if (!refusal && phase_ == Phase::over) refusal = Error{Errc::lost, "the session is over"};
  if (refusal) {
    // Never inside the call, which posted work may be.
    pending->waiting = route_.env.call_at(route_.env.now(), [self, pending, refusal] {
      self->finish(pending, Unexpected{*refusal});
    });
    return;
  }
  pending_.push_back(pending);
  pending->waiting = route_.env.call_at(answer_by, [self, pending] { self->take_up(pending); });
  if (phase_ != Phase::connected) return;
  if (route_.env.strikes(SimEnv::Moment::any)) {
    route_.env.call_at(route_.env.now(), [self, pending] {
      if (self->phase_ == Phase::connected && !pending->left && !pending->over) {
        self->depart(pending);
      }
    });
  } else {
    depart(pending);
  }
}

void SimZookeeperSession::depart(const PendingPtr& pending) {
  // In their order, whatever held an earlier one back.
  for (const PendingPtr& one : pending_) {
    if (one->left || one->over) continue;
    one->left = true;
    ZookeeperEnsemble& ensemble = route_.ensemble;
    const std::string_view name = kNames.at(one->request->index());
    say(one->number,
        [&ensemble, name, number = one->number, request = one->request](const LinkPtr& link) {
          link->asked[number] = name;
          ensemble.receive(link->there, number, request);
        });
    if (one == pending) return;
  }
}

void SimZookeeperSession::take_up(const PendingPtr& pending) {
  if (pending->over || phase_ == Phase::over) return;
  finish(pending,
         pending->left ? failed(Errc::unknown_outcome, "no answer from the server in time")
                       : failed(Errc::unavailable, "no server was reached in time"));
}

void SimZookeeperSession::finish(const PendingPtr& pending, Result<Answer> answer) {
  if (std::exchange(pending->over, true) || route_.env.killed()) return;
  std::erase(pending_, pending);
  OnAnswer on_answer = std::move(pending->on_answer);
  route_.env.wake(pending->waiting);
  on_answer(std::move(answer));
}

void SimZookeeperSession::tell(const SessionEvent& event) {
  const OnEvent on_event = on_event_;
  if (on_event) on_event(event);
}

void SimZookeeperSession::unwatch(const std::string& path) {
  std::size_t had =
      watches_.data.erase(path) + watches_.missing.erase(path) + watches_.children.erase(path);
  for (const PendingPtr& one : pending_) {
    if (watched_path(*one->request) != path) continue;
    one->unwatched = true;
    ++had;
  }
  if (had == 0 || phase_ != Phase::connected) return;
  ZookeeperEnsemble& ensemble = route_.ensemble;
  say(kOfNoRequest,
      [&ensemble, path](const LinkPtr& link) { ensemble.unwatch(link->there, path); });
}

// What was asked before is still answered, or not, as if it went on.
void SimZookeeperSession::close() {
  if (phase_ == Phase::over || route_.env.killed() || std::exchange(closing_, true)) return;
  on_event_ = nullptr;
  if (phase_ == Phase::connected) say_goodbye();
  route_.env.call_at(route_.env.now() + timeout_, [self = shared_from_this()] {
    if (self->phase_ != Phase::over) self->expire();
  });
}

void SimZookeeperSession::say_goodbye() {
  ZookeeperEnsemble& ensemble = route_.ensemble;
  link_->goodbye = true;
  say(kOfNoRequest, [&ensemble](const LinkPtr& link) { ensemble.end_session(link->there); });
}

void SimZookeeperSession::end() {
  on_event_ = nullptr;
  for (const PendingPtr& one : std::exchange(pending_, {})) {
    one->over = true;
    one->on_answer = {};
  }
  if (closing_ && !route_.env.killed()) return;
  phase_ = Phase::over;
  cut_link();
}

}  // namespace holdfast::sim
