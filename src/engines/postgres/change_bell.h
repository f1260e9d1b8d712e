// ChangeBell: how those who observe a lock are told that others hold it now.
//
// The functions of locks say nothing to observers, so that a lock that nobody observes costs
// nothing more. Who wants observers to know says so on one channel for all locks of the database;
// who observes hears it over a session, which is opened for the first of them.
//
// Thread safety: as Env. Lifetime: the Env outlives it; nothing is told after its end.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/env.h"
#include "core/listeners.h"
#include "core/lock_desk.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

class ChangeBell : public std::enable_shared_from_this<ChangeBell> {
 public:
  /// `timeout`: how long the server has for each request.
  ChangeBell(Env& env, std::shared_ptr<PostgresPort> port, Millis timeout)
      : env_{env}, port_{std::move(port)}, timeout_{timeout} {}

  /// As core::LockDesk::listen(). `name` with its prefix.
  std::unique_ptr<core::LockEar> listen(std::string name, std::function<void()> on_change);

  void ring(std::string name);

  bool hears() const { return hears_; }

 private:
  void open();
  void hear(const SessionEvent& event);
  void attend();
  void end();
  static Task<void> open_again(std::weak_ptr<ChangeBell> bell, Env& env);

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  Millis timeout_;
  std::unique_ptr<PostgresSession> session_;
  bool open_{false};
  bool hears_{false};
  std::shared_ptr<core::Listeners> listeners_{std::make_shared<core::Listeners>()};
};

}  // namespace holdfast::postgres
