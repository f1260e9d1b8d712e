// ChangeBell: how those who observe a lock are told that others hold it now.
//
// The scripts of locks say nothing to observers, so that a lock that nobody observes costs nothing
// more. Who wants observers to know says so on one channel for all locks of a prefix.
//
// Thread safety: as Env. Lifetime: requests under way keep it alive.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/listeners.h"
#include "core/lock_desk.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

class ChangeBell : public std::enable_shared_from_this<ChangeBell> {
 public:
  ChangeBell(std::shared_ptr<RedisPort> port, Keys keys)
      : port_{std::move(port)}, keys_{std::move(keys)} {}
  ~ChangeBell();
  ChangeBell(const ChangeBell&) = delete;
  ChangeBell& operator=(const ChangeBell&) = delete;

  /// As core::LockDesk::listen().
  std::unique_ptr<core::LockEar> listen(const LockName& name, std::function<void()> on_change);

  void ring(const LockName& name, TimePoint answer_by);

 private:
  void hear(const Heard& heard);

  std::shared_ptr<RedisPort> port_;
  Keys keys_;
  bool subscribed_{false};
  std::shared_ptr<core::Listeners> listeners_{std::make_shared<core::Listeners>()};
};

}  // namespace holdfast::redis
