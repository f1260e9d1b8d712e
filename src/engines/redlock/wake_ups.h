// WakeUps: hears from the nodes that a lock has come free.
//
// A release is told on a channel of the lock, at every node where it happens. One who waits is
// called when a majority of the nodes has spoken: before that there is nothing to be had. A node
// that begins to listen counts as one that spoke, since it may have spoken before.
//
// Thread safety: as Env. Lifetime: the Env outlives it.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/alarm.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

class WakeUps : public std::enable_shared_from_this<WakeUps> {
 public:
  using Nodes = std::vector<std::shared_ptr<redis::RedisPort>>;

  WakeUps(Env& env, Nodes nodes) : env_{env}, nodes_{std::move(nodes)} {}

  /// One who waits. Listens as long as it lives.
  class Waiter {
   public:
    Waiter(Env& env, std::shared_ptr<WakeUps> wake_ups, std::string channel);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    /// Forgets who has spoken.
    void forget();
    void hear(std::size_t node);
    /// A majority of the nodes has spoken since.
    bool called() const;

    /// Rung when it is called, and by whoever wants it to look around.
    Alarm changed;

   private:
    std::shared_ptr<WakeUps> wake_ups_;
    std::string channel_;
    std::vector<bool> spoken_;
  };
  std::shared_ptr<Waiter> enter(std::string channel);

 private:
  void subscribe(const std::string& channel);
  void hear(const std::string& channel, std::size_t node);

  Env& env_;
  Nodes nodes_;
  /// By channel.
  std::multimap<std::string, Waiter*, std::less<>> waiters_;
};

}  // namespace holdfast::redlock
