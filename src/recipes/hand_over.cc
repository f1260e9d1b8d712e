#include "recipes/hand_over.h"

#include <algorithm>
#include <utility>

#include "base/invalid.h"
#include "core/election.h"
#include "recipes/leader.h"

namespace holdfast::recipes {

void HandOver::start(std::shared_ptr<Term> term, std::string to, Millis patience, Done done) {
  const auto hand_over =
      std::make_shared<HandOver>(std::move(term), std::move(to), patience, std::move(done));
  hand_over->look_for_candidate();
}

HandOver::HandOver(std::shared_ptr<Term> term, std::string to, Millis patience, Done done)
    : term_{std::move(term)},
      to_{std::move(to)},
      patience_{std::clamp(patience, Millis{0}, kTtlMax)},
      done_{std::move(done)},
      until_{BootClock::now() + patience_} {}

void HandOver::look_for_candidate() {
  if (to_ == term_->id()) return finish(invalid("it leads already: " + to_, "name another one"));
  const std::string& name = term_->lease().name();
  auto next_name = core::next_leader_name(name);
  if (!next_name) return finish(Unexpected{next_name.error()});
  lock_ = term_->client().backend()->observe(name);
  lock_->next({}, [self = shared_from_this(), next = *next_name](const Result<LockInfo>& lock) {
    if (!lock) return self->finish(Unexpected{lock.error()});
    const bool seen =
        !self->term_->client().capabilities().fifo || core::is_waiting(*lock, self->to_);
    if (seen) return self->name_it(next);
    self->finish(Unexpected{Error{Errc::not_found,
                                  "no candidate " + self->to_ + " waits for " + lock->name,
                                  "name one of those that `holdfast show` lists as waiting"}});
  });
}

void HandOver::name_it(std::string next_name) {
  const std::string label = core::to_label({.id = to_, .value = {}});
  // Should this process die meanwhile, it stands for no longer than it is worth.
  const AcquireOptions options{
      .ttl = std::max(patience_, kTtlMin), .wait = patience_, .label = label};
  Client client = term_->client();
  client.async_acquire(
      next_name, options, {}, [self = shared_from_this()](Result<Lease, AcquireError> next) {
        if (!next) return self->finish(Unexpected{Error{next.error()}});
        self->next_ = std::make_shared<Lease>(*std::move(next));
        self->step_down();
      });
}

void HandOver::step_down() {
  term_->async_step_down([self = shared_from_this()](ReleaseOutcome outcome) {
    if (outcome == ReleaseOutcome::already_lost) {
      return self->finish(Unexpected{Error{Errc::lost, "the leadership was lost meanwhile"}});
    }
    self->impatience_.emplace([until = self->until_] { return until; },
                              [over = self->over_]() mutable { over.request_stop(); });
    self->watch();
  });
}

void HandOver::watch() {
  lock_->next(over_.get_token(),
              [self = shared_from_this()](const Result<LockInfo>& lock) { self->judge(lock); });
}

void HandOver::judge(const Result<LockInfo>& lock) {
  const auto leader = lock ? leader_of(*lock) : std::nullopt;
  if (leader && leader->id == to_) return finish({});
  if (leader) seen_ = leader->id.empty() ? "another program" : leader->id;
  if (BootClock::now() >= until_) {
    return finish(Unexpected{Error{Errc::timeout,
                                   "the leadership was given up, but " + to_ +
                                       " did not take it in time: " + seen_ + " leads"}});
  }
  const bool may_pass = lock || lock.error().code == Errc::unavailable;
  if (!may_pass) return finish(Unexpected{lock.error()});
  watch();
}

void HandOver::finish(Result<void> result) {
  lock_.reset();
  const Done done = std::exchange(done_, nullptr);
  if (!next_) return done(std::move(result));
  next_->async_release([self = shared_from_this(), done, result](ReleaseOutcome) {
    self->impatience_.reset();
    done(result);
  });
}

}  // namespace holdfast::recipes
