// Waiting: this process's places in the queues of one server.
//
// A place is good while it is refreshed. All of them are refreshed together, a third of the TTL
// after the last time, in few scripts; that is also when a hand-over shows whose message was lost.
// Messages come on one channel for the whole process; on a cluster, on one for each slot.
//
// Thread safety: as Env. Lifetime: the Env outlives it; requests under way keep it alive.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/alarm.h"
#include "core/lease_engine.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_port.h"
#include "engines/redis/redis_reply.h"

namespace holdfast::redis {

/// One who asks for a lock, and what the server last said of it.
struct Waiter {
  Waiter(Env& env, core::LockRequest request_in)
      : request{std::move(request_in)}, sent_at{env.now()}, refreshed_at{sent_at}, changed{env} {}

  core::LockRequest request;
  /// Where it hears of a hand-over.
  std::string channel{};
  /// With a token: when the request left from which the lease counts.
  TimePoint sent_at;
  /// When the last refresh left, seen or not.
  TimePoint refreshed_at;
  std::optional<Token> token{};
  /// The server has answered, and this owner may stand in line there.
  bool answered{false};
  /// Who is in the way, where that is one.
  std::optional<Contender> holder{};
  /// When to ask again although nobody called: the lock may have come free without a word.
  TimePoint ask_at{TimePoint::max()};
  Alarm changed;
  /// Does not wait any more.
  bool left{false};

  /// It has the lock, by a request that left at `sent`. Without effect when it has it already.
  void grant(Token token, TimePoint sent);
  /// Takes in an answer to a request that left at `sent`.
  void note(const Asked& answer, TimePoint sent, TimePoint now);
};

class Waiting : public std::enable_shared_from_this<Waiting> {
 public:
  struct Settings {
    /// How long a refresh waits for its answer.
    Millis timeout;
    /// Called when one that has left is given the lock all the same.
    std::function<void(const core::LockRequest&)> on_stray{};
  };

  Waiting(Env& env, std::shared_ptr<RedisPort> port, Keys keys, Settings settings);

  /// The place is refreshed, and messages reach it, as long as the result lives.
  class [[nodiscard]] Place {
   public:
    Place(std::shared_ptr<Waiting> waiting, std::shared_ptr<Waiter> waiter)
        : waiting_{std::move(waiting)}, waiter_{std::move(waiter)} {}
    ~Place() {
      waiter_->left = true;
      waiting_->waiters_.erase(waiter_->request.owner.to_string());
      waiting_->stop_listening(waiter_->channel);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    std::shared_ptr<Waiting> waiting_;
    std::shared_ptr<Waiter> waiter_;
  };
  std::unique_ptr<Place> enter(std::shared_ptr<Waiter> waiter);

  /// Where this process hears of hand-overs of a lock.
  std::string channel(const LockName& name) const { return keys_.channel(process_, name); }

 private:
  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  void listen(const std::string& channel);
  void stop_listening(const std::string& channel);
  void hear(const std::string& channel, const Heard& heard);
  void refresh(const Waiters& waiters);
  void refresh_together(Waiters waiters, TimePoint sent_at);
  void take_in(const Waiters& waiters, const Reply& reply, TimePoint sent_at);
  void refresh_all_of(Millis ttl);
  TimePoint next_refresh() const;
  static Task<void> keep_refreshing(std::shared_ptr<Waiting> self);

  Env& env_;
  std::shared_ptr<RedisPort> port_;
  Keys keys_;
  Settings settings_;
  std::string process_;
  /// By owner, which is how messages name them.
  std::map<std::string, std::shared_ptr<Waiter>, std::less<>> waiters_;
  std::set<std::string, std::less<>> channels_;
  bool refreshing_{false};
  /// When it is looked by itself what is to be refreshed.
  TimePoint next_look_{};
  Alarm changed_;
};

}  // namespace holdfast::redis
