// What a state file holds that outlives every process: read by the only process attached to it.

#pragma once

namespace holdfast::local {

class StateFile;

enum class Survey {
  /// Nothing: the file may be begun anew.
  idle,
  /// Detached leases, or a lock-delay that still runs.
  occupied,
  /// A reference leads out of the file or in circles.
  damaged,
};

Survey survey(StateFile& file);

}  // namespace holdfast::local
