// Ends a program's process group: TERM once, KILL in time. Used by supervisor and guardian alike.
//
// Both may act on the same group at the same time: the TERM is sent by the first that finds a
// cause, so that a program does not take a second one for impatience.

#pragma once

#include "cli/run/shared_run.h"

namespace holdfast::cli {

class GroupEnd {
 public:
  /// `shared` must outlive this.
  explicit GroupEnd(SharedRun& shared) : shared_{shared} {}

  /// Ends the group by `kill_at` at the latest. An earlier end already under way stays.
  void begin(EndCause cause, TimePoint kill_at);

  /// Begins if the deadline is near, kills if it is time to. Call it whenever anything happened.
  void enforce(TimePoint now, Duration grace);

  bool begun() const { return shared_.causes.load() != 0; }
  bool caused_by(EndCause cause) const;
  bool kill_due(TimePoint now) const { return now >= kill_at(); }

  /// When enforce() has something to do, as things are.
  TimePoint next_action(Duration grace) const;

 private:
  TimePoint kill_at() const { return TimePoint{Duration{shared_.kill_at_ns.load()}}; }

  SharedRun& shared_;
};

}  // namespace holdfast::cli
