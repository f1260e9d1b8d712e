// ChangeBell: how those who observe a lock are told that others hold it now.
//
// The scripts of locks say nothing to observers, so that a lock that nobody observes costs nothing
// more. Who wants observers to know says so at every node, on one channel for all locks of a
// prefix. The first node that speaks is believed: it is a reason to look, and no more, so that
// nodes that are down or cut off are not missed as long as one is left that both sides reach.
//
// Thread safety: as Env. Lifetime: requests under way keep the nodes alive.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/listeners.h"
#include "core/lock_desk.h"
#include "engines/redlock/node_poll.h"

namespace holdfast::redlock {

class ChangeBell : public std::enable_shared_from_this<ChangeBell> {
 public:
  /// `channel`: the same for everybody who uses these locks.
  ChangeBell(Nodes nodes, std::string channel)
      : nodes_{std::move(nodes)}, channel_{std::move(channel)} {}
  ~ChangeBell();
  ChangeBell(const ChangeBell&) = delete;
  ChangeBell& operator=(const ChangeBell&) = delete;

  /// As core::LockDesk::listen().
  std::unique_ptr<core::LockEar> listen(const LockName& name, std::function<void()> on_change);

  void ring(const LockName& name, TimePoint answer_by);

 private:
  void subscribe();
  void hear(const redis::Heard& heard);

  Nodes nodes_;
  std::string channel_;
  bool subscribed_{false};
  std::shared_ptr<core::Listeners> listeners_{std::make_shared<core::Listeners>()};
};

}  // namespace holdfast::redlock
