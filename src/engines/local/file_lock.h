// How the processes attached to a state file know of each other: open-file-description locks, which
// the kernel drops with the process that held them.

#pragma once

#include <string>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::local {

enum class Presence {
  /// Nobody else is attached, and nobody can attach before admit_others().
  alone,
  /// Others are attached.
  among_others,
};

/// unavailable: somebody has been alone with the file until `give_up`.
Result<Presence> announce_presence(int fd, const std::string& path, TimePoint give_up);

/// Presence::alone ends: from here on others may attach.
void admit_others(int fd);

}  // namespace holdfast::local
