// Times one engine by two processes of its own, through nothing but the public Client.

#pragma once

#include <functional>
#include <string>

#include "bench/sampling.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::bench {

struct Figure {
  Timing timing;
  std::uint64_t samples{0};
};

struct Figures {
  /// One caller acquires and releases a lock that nobody else wants.
  Figure pair;
  /// From the call of release() in one process to the return of acquire() in another that waits in
  /// line.
  Figure hand_over;
};

struct DuelOptions {
  std::string url;
  /// Done by one of the two processes before they connect. Empty: nothing.
  std::function<Result<void>()> prepare{};
  /// Becomes readable when it shall end. -1: never.
  int interrupt{-1};
  /// Called several times per second with what is being done and how far that is, from 0 to 1.
  std::function<void(const std::string& words, double part)> progress{};
};

/// No duel takes longer.
inline constexpr Duration kDuelLimit = std::chrono::seconds{15};

/// Forks: the calling process must have one thread. Errors as Client::connect and acquire;
/// cancelled: interrupted; timeout: it took longer than kDuelLimit.
Result<Figures> run_duel(const DuelOptions& options);

}  // namespace holdfast::bench
