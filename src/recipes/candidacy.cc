#include "recipes/candidacy.h"

#include <optional>
#include <utility>

#include "base/secret.h"
#include "core/answer.h"
#include "core/election.h"
#include "core/holder_note.h"
#include "core/limits.h"

namespace holdfast::recipes {
namespace {

/// Host, process and chance: two candidates of one process differ.
std::string fresh_id() {
  const core::HolderNote here = core::make_note({}, {});
  const std::string host = here.host.substr(0, 64);
  return host + '-' + std::to_string(here.pid) + '-' + fresh_owner().fingerprint().substr(0, 8);
}

}  // namespace

Result<CandidacyTerms> check_candidacy(std::string_view name,
                                       std::string_view id,
                                       std::string_view value,
                                       const AcquireOptions& acquire) {
  auto next_name = core::next_leader_name(name);
  if (!next_name) return Unexpected{next_name.error()};
  CandidacyTerms terms{.name = std::string{name},
                       .next_name = *std::move(next_name),
                       .id = id.empty() ? fresh_id() : std::string{id},
                       .label = {},
                       .acquire = acquire};
  if (auto good = core::check_candidate(terms.id, value); !good) return Unexpected{good.error()};
  terms.label = core::to_label({.id = terms.id, .value = std::string{value}});
  terms.acquire.label = terms.label;
  if (auto good = core::check_options(terms.acquire); !good) return Unexpected{good.error()};
  terms.acquire.label = {};
  return terms;
}

void Candidacy::start(Client client, CandidacyTerms terms, std::stop_token stop, Done done) {
  const auto candidacy = std::make_shared<Candidacy>(
      std::move(client), std::move(terms), std::move(stop), std::move(done));
  candidacy->queue();
}

Candidacy::Candidacy(Client client, CandidacyTerms terms, std::stop_token stop, Done done)
    : client_{std::move(client)},
      terms_{std::move(terms)},
      stop_{std::move(stop)},
      done_{std::move(done)} {}

void Candidacy::queue() {
  AcquireOptions options = terms_.acquire;
  options.label = terms_.label;
  client_.async_acquire(
      terms_.name, options, stop_, [self = shared_from_this()](Result<Lease, AcquireError> lease) {
        if (!lease) return self->finish(Unexpected{std::move(lease).error()});
        self->lease_ = std::make_shared<Lease>(*std::move(lease));
        self->look_for_a_name();
      });
}

void Candidacy::look_for_a_name() {
  next_ = client_.backend()->observe(terms_.next_name);
  next_->next({}, [self = shared_from_this()](const Result<LockInfo>& next) {
    // Who is to lead is a wish: where it cannot be learnt, who was granted the lock leads.
    if (!next) return self->accept();
    self->judge(*next);
  });
}

void Candidacy::judge(const LockInfo& next) {
  auto named = core::named_next(next);
  if (!named || *named == terms_.id) return accept();
  const bool fifo = client_.capabilities().fifo;
  const auto queue = fifo ? core::Queue::first_come_first_served : core::Queue::unordered;
  lock_ = client_.backend()->observe(terms_.name);
  lock_->next({}, [self = shared_from_this(), named, queue](const Result<LockInfo>& lock) {
    const bool other = lock && core::gives_way(self->terms_.id, named, *lock, queue);
    return other ? self->give_way() : self->accept();
  });
}

void Candidacy::give_way() {
  lease_->async_release([self = shared_from_this()](ReleaseOutcome) {
    // Behind the one that is named, where there is an order; where there is none, once nobody is.
    if (self->client_.capabilities().fifo) return self->queue();
    self->next_->next(self->stop_, [self](const Result<LockInfo>&) { self->queue(); });
  });
}

void Candidacy::accept() {
  client_.backend()->announce(terms_.name);
  finish(std::move(*lease_));
}

void Candidacy::finish(Result<Lease, AcquireError> result) {
  next_.reset();
  lock_.reset();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
}

Result<Lease, AcquireError> acquire_as_candidate(const Client& client,
                                                 CandidacyTerms terms,
                                                 std::stop_token stop) {
  using Answered = core::Answer<Result<Lease, AcquireError>>;
  const auto answer = std::make_shared<Answered>();
  Candidacy::start(
      client, std::move(terms), std::move(stop), [answer](Result<Lease, AcquireError> lease) {
        answer->set(std::move(lease));
      });
  return answer->take();
}

}  // namespace holdfast::recipes
