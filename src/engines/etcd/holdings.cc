#include "engines/etcd/holdings.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

// Two operations each, and a transaction has at most 128.
constexpr std::size_t kLookMax = 64;

}  // namespace

Holdings::Holdings(std::shared_ptr<Parts> parts)
    : SessionHoldings{parts->env, parts->settings.retry, kLookMax}, parts_{std::move(parts)} {}

void Holdings::attend(const Owner& owner) {
  Own* const own = find(owner);
  if (own == nullptr) return;
  const auto hear = [this, weak = weak_from_this(), owner](const KeyNews&) {
    if (const auto self = weak.lock()) doubt(owner);
  };
  auto listening =
      parts_->watches->listen({.key = own->place.key}, own->place.created, Interest::own_key, hear);
  own->listening = std::move(listening);
}

Task<Result<void>> Holdings::look_into(std::vector<Owner> owners) {
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
