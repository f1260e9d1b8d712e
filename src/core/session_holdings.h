// SessionHoldings: the locks that this process holds with its sessions, and what becomes of them.
//
// What stands for a lock at the server is watched when it is kept for more than a moment. When it
// seems to be gone, the engine looks for the reason, and the holder is told.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"

namespace holdfast::core {

/// `Own`: a lock that is held, with `use`, a SessionUse, and `listening`, true when it is watched.
template <class Own>
class SessionHoldings : public std::enable_shared_from_this<SessionHoldings<Own>> {
 public:
  /// `look_max`: into how many look_into() looks at once.
  SessionHoldings(Env& env, BackoffPolicy retry, std::size_t look_max)
      : env_{env}, retry_{retry}, look_max_{look_max} {}
  virtual ~SessionHoldings() = default;
  SessionHoldings(const SessionHoldings&) = delete;
  SessionHoldings& operator=(const SessionHoldings&) = delete;

  void tell(std::weak_ptr<LeaseNews> news) { news_ = std::move(news); }

  void add(const Owner& owner, Own own) {
    const bool watched = static_cast<bool>(own.listening);
    held_.insert_or_assign(owner, std::move(own));
    // It waited for the lock, and was watched for that.
    if (watched) return attend(owner);
    fresh_.push_back({.owner = owner, .since = env_.now()});
    if (std::exchange(attending_, true)) return;
    env_.spawn(attend_in_time(this->weak_from_this(), env_));
  }

  /// Null: the owner holds nothing (any more). Valid until the next call.
  Own* find(const Owner& owner) {
    const auto found = held_.find(owner);
    return found == held_.end() ? nullptr : &found->second;
  }

  std::optional<Own> take(const Owner& owner) {
    const auto found = held_.find(owner);
    if (found == held_.end()) return std::nullopt;
    std::optional<Own> own{std::move(found->second)};
    held_.erase(found);
    return own;
  }

  /// From now on the end of the owner's lock is heard.
  virtual void attend(const Owner& owner) = 0;

  /// All locks of the session are lost.
  template <class Session>
  void hear_of_end(const std::shared_ptr<Session>& session) {
    std::vector<Owner> owners;
    for (const auto& [owner, own] : held_) {
      if (own.use.session() == session) owners.push_back(owner);
    }
    for (const Owner& owner : owners) lose(owner, session->end());
  }

 protected:
  /// These seem to be gone: are they, and why? Failures: no answer, and they are looked into again.
  virtual Task<Result<void>> look_into(std::vector<Owner> owners) = 0;

  void doubt(const Owner& owner) {
    if (find(owner) == nullptr) return;
    doubtful_.insert(owner);
    if (!std::exchange(looking_, true)) env_.spawn(look_into_all(this->shared_from_this()));
  }

  void lose(const Owner& owner, LossReason reason) {
    // First of all: who is told may ask what is held.
    if (!take(owner)) return;
    if (const auto news = news_.lock()) news->lost(owner, reason);
  }

 private:
  // Most locks are held for less, and a watch would cost them more than it tells.
  static constexpr Duration kMoment{std::chrono::seconds{1}};

  static Task<void> attend_in_time(std::weak_ptr<SessionHoldings> weak, Env& env) {
    for (;;) {
      co_await env.sleep_for(kMoment);
      const auto self = weak.lock();
      if (!self || !self->attend_lasting()) co_return;
    }
  }

  /// Attends those that are held for a while. False: there is none that could be.
  bool attend_lasting() {
    const TimePoint now = env_.now();
    while (!fresh_.empty() && fresh_.front().since + kMoment <= now) {
      const Owner owner = fresh_.front().owner;
      fresh_.pop_front();
      const Own* const own = find(owner);
      if (own != nullptr && !own->listening) attend(owner);
    }
    attending_ = !fresh_.empty();
    return attending_;
  }

  static Task<void> look_into_all(std::shared_ptr<SessionHoldings> self) {
    for (std::uint32_t attempt = 0; !self->doubtful_.empty();) {
      std::vector<Owner> some;
      for (const Owner& owner : self->doubtful_) {
        if (some.size() < self->look_max_) some.push_back(owner);
      }
      for (const Owner& owner : some) self->doubtful_.erase(owner);
      const auto looked = co_await self->look_into(some);
      if (looked) {
        attempt = 0;
        continue;
      }
      // The lock stands until it is known to be gone, or until its deadline.
      self->doubtful_.insert(some.begin(), some.end());
      co_await self->env_.sleep_for(backoff_delay(self->retry_, attempt++, self->env_.draw()));
      std::erase_if(self->doubtful_, [&](const auto& owner) { return !self->find(owner); });
    }
    self->looking_ = false;
  }

  Env& env_;
  BackoffPolicy retry_;
  std::size_t look_max_;
  std::weak_ptr<LeaseNews> news_;
  std::map<Owner, Own> held_;
  /// Not attended yet, the oldest first.
  struct Fresh {
    Owner owner;
    TimePoint since;
  };
  std::deque<Fresh> fresh_;
  bool attending_{false};
  /// What stands for their locks may be gone.
  std::set<Owner> doubtful_;
  bool looking_{false};
};

}  // namespace holdfast::core
