// Twenty workers count under locks while the leader of their servers is killed again and again.
//
// HOLDFAST_LEADER_KILLS_SECONDS: for how long; 20 unless told.

#pragma once

#include <functional>
#include <string>

#include "holdfast/clock.h"

namespace holdfast::campaigns {

struct LeaderKillsPlan {
  /// Of an engine.
  std::string url;
  Millis ttl{2000};
  /// Kills whoever leads, and waits until another one does.
  std::function<void()> kill_leader;
  /// Starts whom it killed last.
  std::function<void()> restart;
};

/// Fails the test when an update was lost or made twice, a stale one was accepted, a token came
/// twice, or somebody stands still.
void run_leader_kills(const LeaderKillsPlan& plan);

}  // namespace holdfast::campaigns
