#include "engines/zookeeper/contention.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engines/zookeeper/ask_all.h"

namespace holdfast::zookeeper {
namespace {

constexpr Millis kStepMax{50};

}  // namespace

/// The answer to the first of two requests that are under way together.
struct Contention::Both {
  explicit Both(Env& env) : answered{env} {}

  std::optional<Result<Answer>> created{};
  Alarm answered;
};

Contention::Contention(std::shared_ptr<Parts> parts, core::LockRequest request, std::string lock)
    : parts_{std::move(parts)},
      request_{std::move(request)},
      own_{.place = {.name = request_.name, .lock = std::move(lock)}},
      changed_{parts_->env} {}

Task<Result<Own, AcquireError>> Contention::run(TimePoint wait_until, std::stop_token stop) {
  const auto self = shared_from_this();
  Env& env = parts_->env;
  const TimePoint began = env.now();
  const bool waits = began < wait_until;
  waits_ = waits;
  // Who asks for the last time when the wait is over has as long as any request.
  const TimePoint last_word = std::max(wait_until, env.now()) + parts_->settings.patience;
  const auto wake = [&env, weak = weak_from_this()] {
    env.post([weak] {
      if (const auto asleep = weak.lock()) asleep->changed_.ring();
    });
  };
  const std::stop_callback on_stop{stop, wake};
  for (;;) {
    const auto asked = co_await ask(stop, last_word);
    if (!asked) co_return Unexpected{give_up(asked.error())};
    if (standing_.admission == core::Admission::granted) co_return co_await won();
    if (standing_.admission == core::Admission::permits_differ) {
      co_return Unexpected{
          give_up({Errc::invalid_argument,
                   "\"" + request_.name.text() + "\" is in use with another number of permits"})};
    }
    met_ = core::Met::others;
    if (waits) co_await wait_for_turn(wait_until, stop);
    const bool cancelled = stop.stop_requested();
    if (waits && !cancelled && env.now() < wait_until) continue;
    AcquireError why{!waits ? Errc::busy : cancelled ? Errc::cancelled : Errc::timeout};
    const TimePoint by = std::min(last_word, env.now() + parts_->settings.timeout);
    AcquireError told = co_await leave(std::move(why), by);
    if (!waits) co_await fall_out_of_step(began);
    co_return Unexpected{std::move(told)};
  }
}

/// Two who hold a lock each and try for the other's would try, and let go, at the same time for
/// ever: the servers answer in steps, as they write to their disks.
Task<void> Contention::fall_out_of_step(TimePoint began) {
  const Duration took = std::min<Duration>(parts_->env.now() - began, kStepMax);
  const BackoffPolicy policy{.first = took, .max = took};
  co_await parts_->env.sleep_for(backoff_delay(policy, 0, parts_->env.draw()));
}

Task<Result<void>> Contention::ask(std::stop_token stop, TimePoint last_word) {
  const TimePoint answer_by = std::min(last_word, parts_->env.now() + parts_->settings.patience);
  bool unsettled = false;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto step = co_await ask_once(answer_by);
    if (step && *step == Step::known) co_return Result<void>{};
    if (step && parts_->env.now() < answer_by) continue;
    const Error error =
        step ? Error{Errc::unavailable, "the place in the queue does not last"} : step.error();
    unsettled = unsettled || error.code == Errc::unknown_outcome;
    const Duration delay = backoff_delay(parts_->settings.retry, attempt, parts_->env.draw());
    const bool late = parts_->env.now() + delay >= answer_by;
    if (!may_pass(error.code) || late || stop.stop_requested()) {
      if (!may_pass(error.code) || !unsettled) co_return Unexpected{error};
      co_return Unexpected{Error{Errc::unknown_outcome, error.message}};
    }
    co_await parts_->env.sleep_for(delay);
  }
}

void Contention::begin_anew() {
  listening_.clear();
  own_.listening = {};
  own_.place.id = contender_id(request_.owner.fingerprint(), parts_->env.draw());
  own_.place.path.clear();
  own_.place.created = 0;
  own_.place.unsettled = false;
}

Task<Result<Contention::Step>> Contention::ask_once(TimePoint answer_by) {
  if (!own_.use || own_.use->is_over()) {
    begin_anew();
    auto use = co_await parts_->sessions->enter(request_.ttl, request_.kind, answer_by);
    if (!use) co_return Unexpected{use.error()};
    own_.use = *std::move(use);
  }
  look_ = false;
  const TimePoint by = parts_->attempt_end(answer_by);
  if (own_.place.unsettled) co_return co_await settle(by);
  if (own_.place.created == 0) co_return co_await enter(by);
  co_return co_await look(by);
}

SharedRequest Contention::create_request() const {
  const Session& session = *own_.use;
  Entrant entrant{.kind = request_.kind, .ttl = session.ttl(), .note = request_.note};
  if (request_.kind == LeaseKind::detached) {
    entrant.sealed = sealed_by(request_.owner, session.key().password);
  }
  const Place& place = own_.place;
  return share(Create{.path = place.lock + '/' +
                              contender_prefix(parts_->settings.layout, request_.claim, place.id),
                      .data = to_data(entrant),
                      .kind = Create::Kind::ephemeral_sequential});
}

Task<Result<Contention::Step>> Contention::enter(TimePoint answer_by) {
  const auto line = own_.use->line;
  const SharedRequest create = create_request();
  const SharedRequest list = share(List{.path = own_.place.lock});
  const auto both = std::make_shared<Both>(parts_->env);
  line->send(create, answer_by, [both](Result<Answer> answer) {
    both->created.emplace(std::move(answer));
    both->answered.ring();
  });
  // In order: it is looked at when the node is there.
  const auto listed = co_await line->answered(list, answer_by);
  while (!both->created) co_await both->answered.wait_until(TimePoint::max());
  const Result<Answer>& created = *both->created;
  if (!created && created.error().code == Errc::unknown_outcome) own_.place.unsettled = true;
  if (!created) co_return failed(created.error());
  if (created->verdict == Verdict::no_node) {
    const auto made = co_await make_lock_node(*line, own_.place.lock, answer_by);
    if (!made) co_return failed(made.error());
    co_return Step::again;
  }
  if (created->verdict != Verdict::done) {
    co_return Unexpected{Error{Errc::internal, "no contender can be put below " + own_.place.lock}};
  }
  own_.place.path = created->path;
  own_.place.created = created->stat.created;
  if (!listed) co_return failed(listed.error());
  co_return co_await take_in(listed->children, answer_by);
}

Task<Result<Contention::Step>> Contention::look(TimePoint answer_by) {
  const auto line = own_.use->line;
  const SharedRequest list = share(List{.path = own_.place.lock});
  const auto listed = co_await line->answered(list, answer_by);
  if (!listed) co_return failed(listed.error());
  co_return co_await take_in(listed->children, answer_by);
}

Task<Result<Contention::Step>> Contention::settle(TimePoint answer_by) {
  const auto session = own_.use.session();
  Place place = own_.place;
  place.path.clear();
  const auto traced = co_await trace(*session, place, answer_by);
  if (!traced) co_return failed(traced.error());
  if (traced->path.empty()) {
    Parts::leave_at_last(parts_, place, session);
    begin_anew();
  }
  own_.place.unsettled = false;
  own_.place.path = traced->path;
  own_.place.created = traced->created;
  co_return Step::again;
}

Result<Contention::Step> Contention::failed(const Error& error) {
  if (error.code != Errc::lost) return Unexpected{error};
  const auto session = own_.use.session();
  parts_->sessions->end(session, session->explain_end(parts_->env.now()));
  return Step::again;
}

Task<Result<Contention::Step>> Contention::take_in(std::vector<std::string> children,
                                                   TimePoint answer_by) {
  std::vector<Child> queue = in_order(children);
  if (!numbers_tell(queue)) {
    auto ordered = co_await by_creation(std::move(queue), answer_by);
    if (!ordered) co_return failed(ordered.error());
    queue = *std::move(ordered);
  }
  if (own_.use->is_over()) co_return Step::again;
  const std::string own = own_.place.child();
  if (std::ranges::find(queue, own, &Child::name) == queue.end()) {
    // A server that was just connected may be behind.
    own_.place.unsettled = true;
    co_return Step::again;
  }
  standing_ = stand(queue, own, request_.claim);
  if (standing_.admission == core::Admission::must_wait && waits_) listen();
  co_return Step::known;
}

Task<Result<std::vector<Child>>> Contention::by_creation(std::vector<Child> children,
                                                         TimePoint answer_by) {
  std::vector<SharedRequest> reads;
  for (const Child& child : children) {
    reads.push_back(share(Read{.path = own_.place.lock + '/' + child.name}));
  }
  const auto line = own_.use->line;
  const auto found = co_await ask_all(parts_->env, *line, std::move(reads), answer_by);
  if (!found) co_return Unexpected{found.error()};
  std::vector<std::pair<Zxid, Child>> ordered;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const Answer& answer = (*found)[i];
    if (answer.verdict != Verdict::done) continue;
    ordered.emplace_back(answer.stat.created, std::move(children[i]));
  }
  std::ranges::sort(ordered, {}, [](const auto& entry) { return entry.first; });
  std::vector<Child> queue;
  for (auto& [created, child] : ordered) queue.push_back(std::move(child));
  co_return queue;
}

void Contention::listen() {
  std::vector<SessionLine::Listening> listening;
  for (const std::string& blocker : standing_.blockers) {
    const std::string path = own_.place.lock + '/' + blocker;
    auto hear = [weak = weak_from_this(), path](SessionLine::Change change) {
      if (const auto self = weak.lock()) self->hear(path, change);
    };
    listening.push_back(own_.use->line->listen(path, std::move(hear)));
    watch(path);
  }
  // Only now, for they may be the same.
  listening_ = std::move(listening);
}

/// A Read and never an Exists, whose watch would stay when the node is gone.
void Contention::watch(const std::string& path) {
  const TimePoint by = parts_->env.now() + parts_->settings.timeout;
  const SharedRequest read = share(Read{.path = path, .watching = Watching::yes});
  own_.use->line->send(read, by, [weak = weak_from_this(), path](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self) return;
    if (!answer) return self->look_again();
    if (answer->verdict == Verdict::no_node) self->depart(path);
  });
}

void Contention::hear(const std::string& path, SessionLine::Change change) {
  if (!change) return look_again();
  if (*change == SessionEvent::Change::erased) return depart(path);
  if (own_.use && !own_.use->is_over()) watch(path);
}

void Contention::depart(const std::string& path) {
  if (std::erase(standing_.blockers, path.substr(path.rfind('/') + 1)) == 0) return;
  if (standing_.departures > 0 && --standing_.departures == 0) look_again();
}

void Contention::look_again() {
  look_ = true;
  changed_.ring();
}

void Contention::hear_of_end(const std::shared_ptr<Session>& session) {
  if (own_.use && own_.use.session() == session) look_again();
}

Task<void> Contention::wait_for_turn(TimePoint wait_until, std::stop_token stop) {
  const TimePoint look_at = parts_->env.now() + parts_->settings.look_again;
  const TimePoint until = std::min(wait_until, look_at);
  while (!look_ && !stop.stop_requested() && parts_->env.now() < until) {
    co_await changed_.wait_until(until);
  }
}

Task<Result<Own, AcquireError>> Contention::won() {
  listening_.clear();
  const auto session = own_.use.session();
  if (request_.kind == LeaseKind::detached && met_ == core::Met::others) {
    // It is to last for the whole of its TTL from now, not from when it began to wait.
    const TimePoint by = parts_->env.now() + parts_->settings.timeout;
    static_cast<void>(co_await parts_->sessions->reconnect(session, by));
  }
  if (session->is_over()) {
    co_return Unexpected{give_up({Errc::timeout, "the session ended as soon as it had the lock"})};
  }
  if (parts_->env.now() >= session->valid_until()) {
    co_return Unexpected{give_up({Errc::timeout,
                                  "the grant took longer to arrive than the lease lasts",
                                  "use a longer TTL, or servers that answer faster"})};
  }
  co_return std::move(own_);
}

/// Gives back what may have been taken, in the background.
AcquireError Contention::give_up(Error why) {
  listening_.clear();
  own_.listening = {};
  const bool left_nothing = !own_.use || (own_.place.created == 0 && !own_.place.unsettled);
  if (own_.use && request_.kind == LeaseKind::detached) {
    if (!own_.use->is_over()) parts_->sessions->close(own_.use.session());
  } else if (!left_nothing) {
    Parts::leave_at_last(parts_, own_.place, own_.use.session());
  }
  own_.use = {};
  return AcquireError{std::move(why)};
}

Task<AcquireError> Contention::leave(AcquireError why, TimePoint answer_by) {
  const bool stands = own_.use && !own_.use->is_over() && !own_.place.path.empty();
  if (!stands || request_.kind == LeaseKind::detached) co_return give_up(std::move(why));
  listening_.clear();
  const auto line = own_.use->line;
  const SharedRequest erase = share(Erase{.path = own_.place.path});
  const auto answer = co_await line->answered(erase, answer_by);
  if (answer) own_.use = {};
  if (answer) co_return why;
  co_return give_up(std::move(why));
}

}  // namespace holdfast::zookeeper
