// The experiment of the Jepsen report on etcd 3.4.3: a set under a lock, short leases, five
// workers, and a pause of whoever holds the lock every few seconds. Without fencing updates are
// lost; with it, none.
//
// HOLDFAST_PAUSES: how many; 3 unless told.

#pragma once

#include <string>

#include "holdfast/clock.h"

namespace holdfast::campaigns {

struct PausedSet {
  /// Of an engine, with a parameter; `&prefix=…` is added.
  std::string url;
  Millis ttl{2000};
  /// Longer than a lease and what the servers take to notice.
  Millis pause{4000};
};

struct PausedSetFigures {
  std::size_t added{0};
  /// Confirmed by the store, and not there any more.
  std::size_t lost{0};
};

enum class Fencing : bool { off, on };

/// Only in programs that use main_of_paused_set().
PausedSetFigures run_paused_set(const PausedSet& set, Fencing fencing);

/// The main() of a test program, which is also that of the workers.
int main_of_paused_set(int argc, char** argv);

}  // namespace holdfast::campaigns
