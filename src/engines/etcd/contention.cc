#include "engines/etcd/contention.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {

Contention::Contention(std::shared_ptr<Parts> parts, core::LockRequest request)
    : parts_{std::move(parts)},
      request_{std::move(request)},
      own_{.place = {.name = request_.name, .owner_fp = request_.owner.fingerprint()}},
      changed_{parts_->env} {}

Entrant Contention::entrant() const {
  return {.claim = request_.claim, .kind = request_.kind, .note = request_.note};
}

Task<Result<Own, AcquireError>> Contention::run(TimePoint wait_until, std::stop_token stop) {
  const auto self = shared_from_this();
  Env& env = parts_->env;
  const bool waits = env.now() < wait_until;
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
    co_return Unexpected{std::move(told)};
  }
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

Task<Result<Contention::Step>> Contention::ask_once(TimePoint answer_by) {
  Place& place = own_.place;
  if (!own_.use || own_.use->is_over()) {
    own_.listening = {};
    auto use = co_await parts_->sessions->enter(request_.ttl, request_.kind, answer_by);
    if (!use) co_return Unexpected{use.error()};
    own_.use = *std::move(use);
    place.lease = own_.use->lease();
    place.key = parts_->keys.contender(place.name, place.lease, place.owner_fp);
    place.created = 0;
    place.unsettled = false;
  }
  const bool enters = place.created == 0;
  const SharedTxn txn = share(enters ? enter_txn(parts_->keys, place, entrant())
                                     : look_txn(parts_->keys, place, request_.claim));
  look_ = false;
  const auto session = own_.use.session();
  const auto answer = co_await parts_->port->committed(txn, parts_->attempt_end(answer_by));
  if (!answer && answer.error().code == Errc::lost) {
    parts_->sessions->end(session, session->explain_end(parts_->env.now()));
    co_return Step::again;
  }
  if (!answer && enters && answer.error().code == Errc::unknown_outcome) place.unsettled = true;
  if (!answer) co_return Unexpected{answer.error()};
  const Seen seen = enters ? read_entered(*answer, place) : read_looked(*answer, place);
  co_return take_in(seen, answer->header.revision);
}

Contention::Step Contention::take_in(const Seen& seen, Revision revision) {
  if (seen.created != own_.place.created) own_.listening = {};
  own_.place.created = seen.created;
  if (own_.use->is_over() || !seen.ahead) return Step::again;
  standing_ = stand(*seen.ahead, request_.claim);
  if (standing_.admission == core::Admission::must_wait) listen(revision);
  return Step::known;
}

/// For news of what happens after the look that found others ahead.
void Contention::listen(Revision since) {
  const auto hear = [weak = weak_from_this()](const KeyNews& news) {
    if (const auto self = weak.lock()) self->hear(news);
  };
  if (!own_.listening) {
    KeyRange key{.key = own_.place.key};
    own_.listening = parts_->watches->listen(std::move(key), since, Interest::own_key, hear);
  }
  const bool one = standing_.blockers.size() == 1;
  KeyRange keys =
      one ? KeyRange{.key = standing_.blockers.front()} : parts_->keys.contenders(request_.name);
  // Before the last one ends: they may want the same watch.
  auto listening = parts_->watches->listen(std::move(keys), since, Interest::others, hear);
  listening_ = std::move(listening);
}

void Contention::hear(const KeyNews& news) {
  const std::string& own = own_.place.key;
  std::size_t gone = 0;
  if (news.there != nullptr) {
    if (!news.there->contains(own)) return look_again();
    gone = std::erase_if(standing_.blockers,
                         [&](const std::string& key) { return !news.there->contains(key); });
  } else {
    if (news.erased == nullptr || *news.erased == own) return look_again();
    gone = std::erase(standing_.blockers, *news.erased);
  }
  if (gone == 0 || standing_.departures == 0) return;
  standing_.departures -= std::min(standing_.departures, gone);
  if (standing_.departures == 0) look_again();
}

void Contention::look_again() {
  look_ = true;
  changed_.ring();
}

void Contention::hear_of_end(const std::shared_ptr<Session>& session) {
  if (own_.use && own_.use.session() == session) look_again();
}

Task<void> Contention::wait_for_turn(TimePoint wait_until, std::stop_token stop) {
  while (!look_ && !stop.stop_requested() && parts_->env.now() < wait_until) {
    co_await changed_.wait_until(wait_until);
  }
}

Task<Result<Own, AcquireError>> Contention::won() {
  listening_ = {};
  const auto session = own_.use.session();
  if (request_.kind == LeaseKind::detached) {
    // It is to last for the whole of its TTL from now, not from when it began to wait.
    const TimePoint by = parts_->env.now() + parts_->settings.timeout;
    const bool waited = met_ == core::Met::others;
    if (waited) static_cast<void>(co_await parts_->sessions->renew(session, by));
    own_.listening = {};
  }
  if (session->is_over()) {
    co_return Unexpected{give_up({Errc::timeout, "the lease ended as soon as it was granted"})};
  }
  if (parts_->env.now() >= session->valid_until()) {
    co_return Unexpected{give_up({Errc::timeout,
                                  "the grant took longer to arrive than the lease lasts",
                                  "use a longer TTL, or a cluster that answers faster"})};
  }
  co_return std::move(own_);
}

/// Gives back what may have been taken, in the background.
AcquireError Contention::give_up(Error why) {
  listening_ = {};
  own_.listening = {};
  const bool left_nothing = !own_.use || (own_.place.created == 0 && !own_.place.unsettled);
  if (own_.use && request_.kind == LeaseKind::detached) {
    parts_->sessions->close(own_.use.session());
  } else if (!left_nothing) {
    Parts::leave_at_last(parts_, own_.place, own_.use.session());
  }
  own_.use = {};
  return AcquireError{std::move(why)};
}

Task<AcquireError> Contention::leave(AcquireError why, TimePoint answer_by) {
  const bool stands = own_.use && !own_.use->is_over();
  if (!stands || request_.kind == LeaseKind::detached) co_return give_up(std::move(why));
  listening_ = {};
  own_.listening = {};
  const SharedTxn txn = share(leave_txn(parts_->keys, own_.place));
  const auto answer = co_await parts_->port->committed(txn, answer_by);
  if (answer) own_.use = {};
  if (answer) co_return why;
  co_return give_up(std::move(why));
}

}  // namespace holdfast::etcd
