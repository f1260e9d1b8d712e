// Scheduler: virtual time for a whole world.
//
// Everything that is ready runs, in a fixed order; when nothing is, time jumps to the next event.
// No thread, no clock and no sleep is involved, and the same world runs the same way every time.
//
// Thread safety: none; a world lives on one thread.

#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/callback.h"
#include "holdfast/clock.h"

namespace holdfast::sim {

class SimEnv;

class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// True time, which no client and no server sees.
  TimePoint now() const { return now_; }

  /// Something that happens to the world after `delay`, such as the arrival of a message. A
  /// callable without arguments.
  template <class Event>
  void after(Duration delay, Event&& event) {
    slots_[plan(delay)] = Work{std::forward<Event>(event)};
  }

  /// Runs everything that happens within `duration` and ends exactly that much later.
  void advance(Duration duration);

  /// Runs until `done` answers true, at most for `limit`. Whether it did.
  bool run_until(const std::function<bool()>& done, Duration limit);

  /// Drops every event that has not happened, and what it refers to.
  void clear();

 private:
  friend class SimEnv;
  void enlist(SimEnv& env) { envs_.push_back(&env); }
  void dismiss(SimEnv& env) { std::erase(envs_, &env); }

  /// Kept in a heap by time, then by order of planning; what is to happen waits in a slot, so that
  /// the heap moves little.
  struct Planned {
    TimePoint when;
    std::uint64_t sequence;
    std::uint32_t slot;
  };
  struct Later {
    bool operator()(const Planned& one, const Planned& other) const {
      return one.when != other.when ? one.when > other.when : one.sequence > other.sequence;
    }
  };

  /// A slot for what happens then.
  std::uint32_t plan(Duration delay);
  /// Runs what is ready. When something will stir next.
  TimePoint settle();
  void happen();
  /// Goes on to `next`, when something stirs. False when that is after `end`; time stands there
  /// then.
  bool step(TimePoint next, TimePoint end);

  TimePoint now_{};
  std::uint64_t next_sequence_{0};
  std::vector<Planned> heap_;
  std::vector<Work> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<SimEnv*> envs_;
};

}  // namespace holdfast::sim
