// Alarm: a wait with a deadline that can be cut short.
//
// One task waits, others ring. Ringing while nobody waits is remembered once, so that no wake-up is
// lost between looking and waiting.
//
// Thread safety: as Env; ring it through Env::post() from another thread.
// Lifetime: outlives the wait; the waiting task usually owns it or shares in it.

#pragma once

#include <cstdint>
#include <optional>

#include "base/env.h"

namespace holdfast {

enum class Wake : std::uint8_t { rung, due };

class Alarm {
 public:
  explicit Alarm(Env& env) : env_{env} {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// Ends the wait in progress, or the next one at once.
  void ring();

  /// Waits until rung or until `due`. Precondition: no other task waits here.
  Task<Wake> wait_until(TimePoint due);

 private:
  Env& env_;
  std::optional<ParkingId> waiting_;
  bool rung_{false};
};

}  // namespace holdfast
