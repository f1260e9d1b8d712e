#include "engines/etcd/holdings.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

// Most locks are held for less, and a watch would cost them more than it tells.
constexpr Duration kMoment = 1s;

// Two operations each, and a transaction has at most 128.
constexpr std::size_t kLookMax = 64;

}  // namespace

void Holdings::add(const Owner& owner, Own own) {
  held_.insert_or_assign(owner, std::move(own));
  // It waited for the lock, and its key was watched for that.
  if (held_.at(owner).listening) return attend(owner);
  fresh_.push_back({.owner = owner, .since = parts_->env.now()});
  if (std::exchange(attending_, true)) return;
  parts_->env.spawn(attend_in_time(weak_from_this(), parts_->env));
}

Task<void> Holdings::attend_in_time(std::weak_ptr<Holdings> weak, Env& env) {
  for (;;) {
    co_await env.sleep_for(kMoment);
    const auto self = weak.lock();
    if (!self || !self->attend_lasting()) co_return;
  }
}

bool Holdings::attend_lasting() {
  const TimePoint now = parts_->env.now();
  while (!fresh_.empty() && fresh_.front().since + kMoment <= now) {
    const Owner owner = fresh_.front().owner;
    fresh_.pop_front();
    const Own* const own = find(owner);
    if (own != nullptr && !own->listening) attend(owner);
  }
  attending_ = !fresh_.empty();
  return attending_;
}

Own* Holdings::find(const Owner& owner) {
  const auto found = held_.find(owner);
  return found == held_.end() ? nullptr : &found->second;
}

std::optional<Own> Holdings::take(const Owner& owner) {
  const auto found = held_.find(owner);
  if (found == held_.end()) return std::nullopt;
  std::optional<Own> own{std::move(found->second)};
  held_.erase(found);
  return own;
}

void Holdings::attend(const Owner& owner) {
  Own* const own = find(owner);
  if (own == nullptr) return;
  const auto hear = [weak = weak_from_this(), owner](const std::string*) {
    if (const auto self = weak.lock()) self->doubt(owner);
  };
  auto listening =
      parts_->watches->listen({.key = own->place.key}, own->place.created, Interest::own_key, hear);
  own->listening = std::move(listening);
}

void Holdings::hear_of_end(const std::shared_ptr<Session>& session) {
  std::vector<Owner> owners;
  for (const auto& [owner, own] : held_) {
    if (own.use.session() == session) owners.push_back(owner);
  }
  for (const Owner& owner : owners) lose(owner, session->end());
}

void Holdings::lose(const Owner& owner, LossReason reason) {
  // First of all: who is told may ask what is held.
  if (!take(owner)) return;
  if (const auto news = news_.lock()) news->lost(owner, reason);
}

void Holdings::doubt(const Owner& owner) {
  if (find(owner) == nullptr) return;
  doubtful_.insert(owner);
  if (!std::exchange(looking_, true)) parts_->env.spawn(look_into(shared_from_this()));
}

Task<void> Holdings::look_into(std::shared_ptr<Holdings> self) {
  for (std::uint32_t attempt = 0; !self->doubtful_.empty();) {
    std::vector<Owner> some;
    for (const Owner& owner : self->doubtful_) {
      if (some.size() < kLookMax) some.push_back(owner);
    }
    for (const Owner& owner : some) self->doubtful_.erase(owner);
    const auto looked = co_await self->look_into_some(some);
    if (looked) {
      attempt = 0;
      continue;
    }
    // The lock stands until it is known to be gone, or until its deadline.
    self->doubtful_.insert(some.begin(), some.end());
    const BackoffPolicy& retry = self->parts_->settings.retry;
    co_await self->parts_->env.sleep_for(backoff_delay(retry, attempt++, self->parts_->env.draw()));
    std::erase_if(self->doubtful_, [&](const auto& owner) { return !self->find(owner); });
  }
  self->looking_ = false;
}

Task<Result<void>> Holdings::look_into_some(std::vector<Owner> owners) {
  std::erase_if(owners, [&](const Owner& owner) { return find(owner) == nullptr; });
  if (owners.empty()) co_return Result<void>{};
  Txn txn;
  for (const Owner& owner : owners) {
    const Place& place = find(owner)->place;
    const std::string mark = parts_->keys.broken(place.name, place.owner_fp);
    txn.then.emplace_back(Range{.keys = {.key = place.key}, .part = Range::Part::keys_only});
    txn.then.emplace_back(Range{.keys = {.key = mark}, .part = Range::Part::keys_only});
  }
  const SharedTxn shared = share(std::move(txn));
  const TimePoint by = parts_->env.now() + parts_->settings.timeout;
  const auto answer = co_await parts_->port->committed(shared, by);
  if (!answer) co_return Unexpected{answer.error()};
  std::set<Owner> removed;
  judge(owners, *answer, removed);
  while (!removed.empty()) {
    const Owner owner = *removed.begin();
    removed.erase(removed.begin());
    const Own* const own = find(owner);
    if (own == nullptr) continue;
    // Keys go with their lease: then all of them are lost at once, with another reason.
    const auto session = own->use.session();
    const TimePoint soon = parts_->env.now() + parts_->settings.timeout;
    static_cast<void>(co_await parts_->sessions->renew(session, soon));
    lose(owner, LossReason::removed);
    for (const Owner& other : owners) {
      const Own* const same = removed.contains(other) ? find(other) : nullptr;
      if (same == nullptr || same->use.session() != session) continue;
      removed.erase(other);
      lose(other, LossReason::removed);
    }
  }
  co_return Result<void>{};
}

/// Tells who was broken; `removed`: whose keys are gone otherwise.
void Holdings::judge(const std::vector<Owner>& owners,
                     const TxnAnswer& answer,
                     std::set<Owner>& removed) {
  if (answer.answers.size() != 2 * owners.size()) return;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Own* const own = find(owners[i]);
    if (own == nullptr) continue;
    const auto& key = answer.answers[2 * i].found;
    if (!key.empty() && key.front().created == own->place.created) continue;
    if (answer.answers[2 * i + 1].found.empty()) {
      removed.insert(owners[i]);
    } else {
      lose(owners[i], LossReason::broken);
    }
  }
}

}  // namespace holdfast::etcd
