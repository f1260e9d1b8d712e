// DueTimer: calls back at a time, and can be set again and again.
//
// Meant for deadlines: setting it costs nothing while it is already set to an earlier time.
//
// Thread safety: none; it belongs to the Env's thread.

#pragma once

#include <functional>
#include <memory>

#include "base/env.h"

namespace holdfast {

class DueTimer {
 public:
  /// `on_due` is called between tasks of the Env, and never after the timer is gone.
  DueTimer(Env& env, std::function<void()> on_due);

  /// Goes off at `when` or soon after. An earlier time set before stands as well: whoever is called
  /// looks at the clock and sets the timer again if it is too early.
  void set(TimePoint when);

 private:
  struct State {
    Env& env;
    std::function<void()> on_due;
    /// When it will go off next.
    TimePoint due{TimePoint::max()};
  };

  static void gone_off(const std::weak_ptr<State>& timer, TimePoint due);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast
