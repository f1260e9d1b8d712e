#include "recipes/detached_locks.h"

#include <algorithm>
#include <utility>

#include "recipes/released.h"

namespace holdfast::recipes {
namespace {

/// However long a TTL is asked for, an engine may grant less.
constexpr Millis kKeepEveryMax{2000};

}  // namespace

DetachedLocks::Lease DetachedLocks::note(Held held) {
  auto lease = std::make_shared<Held>(std::move(held));
  held_.push_back(lease);
  return lease;
}

DetachedLocks::Lease DetachedLocks::adopt(std::string name, const Owner& owner) {
  return note({.name = std::move(name), .owner = owner});
}

Task<std::vector<DetachedLocks::Taken>> DetachedLocks::take_each(std::vector<std::string> names,
                                                                 AcquireOptions options,
                                                                 std::stop_token stop,
                                                                 std::vector<Lease>&) {
  options.kind = LeaseKind::detached;
  std::vector<holdfast::Lease> none;
  auto answers = co_await locks_.take_each(std::move(names), options, std::move(stop), none);
  std::vector<Taken> taken;
  for (auto& answer : answers) {
    if (!answer) {
      taken.emplace_back(Unexpected{std::move(answer).error()});
    } else {
      std::string name = answer->name();
      const Owner owner = answer->owner();
      taken.emplace_back(
          note({.name = std::move(name), .owner = owner, .taken = *std::move(answer)}));
    }
  }
  co_return taken;
}

Task<void> DetachedLocks::give_back(std::vector<Lease> leases) {
  for (Lease& lease : leases) co_await release(lease);
}

Task<ReleaseOutcome> DetachedLocks::release(Lease& lease) {
  std::erase_if(held_, [&](const auto& one) { return one.lock() == lease; });
  if (lease->taken) co_return co_await released(*lease->taken);
  const auto outcome = client_.release(lease->name, lease->owner);
  co_return outcome ? *outcome : ReleaseOutcome::unknown;
}

bool DetachedLocks::stands(const Lease& lease) {
  if (lease->taken) return lease->taken->ensure_held().has_value();
  return renew(*lease).has_value();
}

Result<void> DetachedLocks::renew(Held& lease) {
  if (lease.taken) return lease.taken->renew();
  const auto left = client_.renew(lease.name, lease.owner, ttl_);
  return left ? Result<void>{} : Unexpected{left.error()};
}

void DetachedLocks::keep_alive() {
  for (const auto& one : held_) {
    // Whether it still stands is asked when everything is held.
    if (const Lease lease = one.lock()) static_cast<void>(renew(*lease));
  }
}

Chore DetachedLocks::renewal() {
  return {.every = std::min(ttl_ / 3, kKeepEveryMax), .work = [this] { keep_alive(); }};
}

}  // namespace holdfast::recipes
