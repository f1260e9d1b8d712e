// The two processes of a duel: one measures and hands the lock over, the other takes it.

#pragma once

#include <chrono>

#include "bench/compare/duel.h"
#include "bench/compare/stage.h"

namespace holdfast::bench {

/// How long a duel usually takes, at most.
inline constexpr std::chrono::duration<double> kUsualDuel{8};

/// Returns when the figures are on the stage, or a failure is.
void give(Stage& stage, const DuelOptions& options);

/// Takes the lock in every turn until its process is killed. Returns when it has failed.
void receive(Stage& stage, const std::string& url);

}  // namespace holdfast::bench
