// ContendersEar: hears of every contender for a lock that comes or goes.
//
// It watches the children of the lock's node, or for the node itself while there is none, over a
// session of the desk's. A watch tells once: it is set anew after every word.
//
// Thread safety: as Env. Lifetime: the Env outlives it; nothing is told after its end.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/lock_desk.h"
#include "engines/zookeeper/desk_reach.h"

namespace holdfast::zookeeper {

class ContendersEar final : public core::LockEar {
 public:
  ContendersEar(std::shared_ptr<const DeskReach> reach,
                std::string lock,
                std::function<void()> heard);
  ~ContendersEar() override;
  ContendersEar(const ContendersEar&) = delete;
  ContendersEar& operator=(const ContendersEar&) = delete;

  Millis trusted_for() const override;

 private:
  struct State;

  static Task<void> keep_listening(std::shared_ptr<State> state);
  static Task<Result<void>> listen_once(std::shared_ptr<State> state);
  static Task<Result<void>> set_watch(std::shared_ptr<State> state,
                                      std::shared_ptr<SessionLine> line,
                                      TimePoint answer_by);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::zookeeper
