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
#include "core/queued_engine.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_port.h"
#include "engines/redis/redis_reply.h"

namespace holdfast::redis {

/// Takes in an answer to a request that left at `sent`.
void note(core::Waiter& waiter, const core::Asked& answer, TimePoint sent, TimePoint now);

class Waiting : public std::enable_shared_from_this<Waiting> {
 public:
  struct Settings {
    /// How long a refresh waits for its answer.
    Millis timeout;
    /// Called when one that has left is given the lock all the same.
    std::function<void(const core::LockRequest&)> on_stray{};
  };

  Waiting(Env& env, std::shared_ptr<RedisPort> port, Keys keys, Settings settings);

  /// The place is refreshed, and messages reach it, until it leaves.
  void enter(std::shared_ptr<core::Waiter> waiter);
  void leave(core::Waiter& waiter);

  /// The engine goes. Requests under way outlive it, and nobody is left to care for strays.
  void orphan() { settings_.on_stray = nullptr; }

  /// Where this process hears of hand-overs of a lock.
  std::string channel(const LockName& name) const { return keys_.channel(process_, name); }

 private:
  /// A place in a queue.
  struct Entry {
    std::shared_ptr<core::Waiter> waiter;
    /// Where it hears of a hand-over.
    std::string channel;
    /// When the last refresh left, seen or not.
    TimePoint refreshed_at;

    const core::LockRequest& request() const { return waiter->request; }
    TimePoint refresh_due() const { return refreshed_at + request().ttl / 3; }
  };
  using Entries = std::vector<std::shared_ptr<Entry>>;

  void listen(const std::string& channel);
  void stop_listening(const std::string& channel);
  void hear(const std::string& channel, const Heard& heard);
  void refresh(const Entries& entries);
  void refresh_together(Entries entries, TimePoint sent_at);
  void take_in(const Entries& entries, const Reply& reply, TimePoint sent_at);
  void refresh_all_of(Millis ttl);
  TimePoint next_refresh() const;
  static Task<void> keep_refreshing(std::shared_ptr<Waiting> self);

  Env& env_;
  std::shared_ptr<RedisPort> port_;
  Keys keys_;
  Settings settings_;
  std::string process_;
  /// By owner, which is how messages name them.
  std::map<Owner, std::shared_ptr<Entry>> entries_;
  std::set<std::string, std::less<>> channels_;
  bool refreshing_{false};
  /// When it is looked by itself what is to be refreshed.
  TimePoint next_look_{};
  Alarm changed_;
};

}  // namespace holdfast::redis
