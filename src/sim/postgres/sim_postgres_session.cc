#include "sim/postgres/sim_postgres_session.h"

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using namespace postgres;
using Kind = SessionEvent::Kind;

// Keep-alives of both ends, and how many in a row may be lost.
constexpr Duration kProbe = 500ms;
constexpr int kProbesMissed = 3;

Error ended_by(const char* why) { return {Errc::unavailable, why}; }

Result<Answer> failed(Errc code, const std::string& why) { return Unexpected{Error{code, why}}; }

}  // namespace

SimPostgresSession::SimPostgresSession(const SimPostgresPort::Route& route, OnEvent on_event)
    : route_{route}, on_event_{std::move(on_event)}, vanishes_{route_.env.draw() % 2 == 0} {}

void SimPostgresSession::begin(TimePoint connected_by) {
  SimEnv& env = route_.env;
  if (env.killed()) return;
  const auto self = shared_from_this();
  if (route_.pooler == Pooler::yes) {
    env.call_at(env.now(), [self] { self->end(ended_by("there is a pooler between")); });
    return;
  }
  env.call_at(env.now(), [self] { self->connect(); });
  env.call_at(connected_by, [self] {
    if (self->phase_ == Phase::connecting) self->end(ended_by("no connection in time"));
  });
}

void SimPostgresSession::connect() {
  if (phase_ == Phase::over) return;
  const HostId mine = route_.ends.client;
  const HostId its = route_.ends.server;
  Scheduler& scheduler = route_.scheduler;
  up_ = std::make_shared<SimPipe>(scheduler, route_.network, mine, its, Direction::request);
  down_ = std::make_shared<SimPipe>(scheduler, route_.network, its, mine, Direction::reply);
  up_->send(kOfNoRequest, [self = shared_from_this()] { self->accept(); });
}

void SimPostgresSession::accept() {
  const auto self = shared_from_this();
  if (!route_.node.up()) {
    say_back(kOfNoRequest, [self] { self->end(ended_by("connection refused")); });
    return;
  }
  there_ = route_.node.connect(
      {.notify =
           [self](const std::string& channel, const std::string& payload) {
             SessionEvent event{.kind = Kind::notified, .channel = channel, .payload = payload};
             self->say_back(kOfNoRequest, [self, event] { self->tell(event); });
           },
       .ended =
           [self] {
             self->say_back(kOfNoRequest,
                            [self] { self->end(ended_by("the server ended the session")); });
           }});
  say_back(kOfNoRequest, [self, id = there_.value] { self->welcome(id); });
  probe(0);
}

// The peer's machine answers keep-alives, whatever its process does.
void SimPostgresSession::probe(int missed) {
  route_.scheduler.after(kProbe, [self = shared_from_this(), missed] {
    const PostgresEnds& ends = self->route_.ends;
    Network& network = self->route_.network;
    const bool there = self->route_.node.has(self->there_);
    if (!there && self->phase_ == Phase::over) return;
    const bool heard = !self->vanished_ && network.way(ends.client, ends.server).blocked == 0 &&
                       network.way(ends.server, ends.client).blocked == 0;
    if (heard || missed < kProbesMissed) return self->probe(heard ? 0 : missed + 1);
    self->route_.node.disconnect(self->there_);
    self->route_.env.post([self] { self->end(ended_by("the server does not answer")); });
  });
}

void SimPostgresSession::say_back(std::uint64_t number, std::function<void()> at_client) {
  down_->send(number, [self = shared_from_this(), at_client = std::move(at_client)] {
    self->route_.env.post([self, at_client] {
      if (self->phase_ != Phase::over) at_client();
    });
  });
}

void SimPostgresSession::welcome(std::int32_t backend) {
  phase_ = Phase::connected;
  backend_ = backend;
  const std::deque<PendingPtr> waiting = pending_;
  tell({.kind = Kind::connected});
  for (const PendingPtr& one : waiting) {
    if (phase_ == Phase::connected && !one->left && !one->over) depart(one);
  }
}

void SimPostgresSession::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  SimEnv& env = route_.env;
  if (env.killed()) return;
  const auto pending = std::make_shared<Pending>();
  pending->number = route_.network.next_number();
  pending->call = std::move(call);
  pending->on_answer = std::move(on_answer);
  const auto self = shared_from_this();
  if (phase_ == Phase::over) {
    env.call_at(env.now(), [self, pending] {
      self->finish(pending, failed(Errc::unavailable, "the session has ended"));
    });
    return;
  }
  pending_.push_back(pending);
  pending->waiting = env.call_at(answer_by, [self, pending] {
    if (!pending->over) self->end(ended_by("no answer from the server in time"));
  });
  if (phase_ != Phase::connected) return;
  if (env.strikes(SimEnv::Moment::any)) {
    env.call_at(env.now(), [self, pending] { self->depart(pending); });
  } else {
    depart(pending);
  }
}

void SimPostgresSession::depart(const PendingPtr& pending) {
  if (phase_ != Phase::connected) return;
  // In their order, whatever held an earlier one back.
  for (const PendingPtr& one : std::deque<PendingPtr>{pending_}) {
    if (one->left || one->over) continue;
    one->left = true;
    up_->send(one->number, [self = shared_from_this(), number = one->number, call = one->call] {
      self->run(number, call);
    });
    if (one == pending) return;
  }
}

void SimPostgresSession::run(std::uint64_t number, const SharedCall& call) {
  if (!route_.node.has(there_)) return;
  Answer answer = route_.node.run(*call, there_);
  note_run(route_, number, *call, answer);
  say_back(number, [self = shared_from_this(), number, answer = std::move(answer)] {
    const auto asked = std::ranges::find(self->pending_, number, &Pending::number);
    if (asked != self->pending_.end()) self->finish(*asked, answer);
  });
}

void SimPostgresSession::finish(const PendingPtr& asked, Result<Answer> answer) {
  const PendingPtr pending = asked;
  if (std::exchange(pending->over, true) || route_.env.killed()) return;
  std::erase(pending_, pending);
  OnAnswer on_answer = std::move(pending->on_answer);
  route_.env.wake(pending->waiting);
  on_answer(std::move(answer));
}

void SimPostgresSession::end(const Error& why) {
  if (std::exchange(phase_, Phase::over) == Phase::over) return;
  const auto self = shared_from_this();
  hang_up();
  for (const PendingPtr& one : std::deque<PendingPtr>{pending_}) {
    const Errc code = one->left ? Errc::unknown_outcome : Errc::unavailable;
    finish(one, failed(code, why.message));
  }
  tell({.kind = Kind::ended, .error = why});
}

void SimPostgresSession::tell(const SessionEvent& event) {
  const OnEvent on_event = on_event_;
  if (on_event) on_event(event);
}

// What was sent before still arrives. The kernel says goodbye for a process that was killed.
void SimPostgresSession::hang_up() {
  if (!up_) return;
  down_->close();
  vanished_ = route_.env.killed() && vanishes_;
  if (vanished_) return;
  up_->send(kOfNoRequest,
            [self = shared_from_this()] { self->route_.node.disconnect(self->there_); });
}

void SimPostgresSession::leave() {
  on_event_ = nullptr;
  for (const PendingPtr& one : std::exchange(pending_, {})) {
    one->over = true;
    one->on_answer = {};
  }
  if (std::exchange(phase_, Phase::over) != Phase::over) hang_up();
}

}  // namespace holdfast::sim
