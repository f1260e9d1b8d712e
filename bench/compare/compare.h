// The same measurement of several engines, side by side.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/duel.h"
#include "holdfast/result.h"

namespace holdfast::bench {

struct Measured {
  /// Its name, or its URL as shown_url() gives it.
  std::string engine;
  Figures figures;
};

struct Missing {
  std::string engine;
  Error error;
};

struct Comparison {
  std::vector<Measured> measured;
  std::vector<Missing> missing;
};

struct CompareOptions {
  /// Names of kOwnEngines, whose servers are started, and URLs of engines that run already.
  std::vector<std::string> engines;
  /// Becomes readable when it shall end. -1: never.
  int interrupt{-1};
  /// Called several times per second with what is being done and how far all is, from 0 to 1.
  std::function<void(const std::string& words, double part)> progress{};
};

/// An engine that cannot be measured is among the missing, with the reason. Forks: the calling
/// process must have one thread. cancelled: interrupted.
Result<Comparison> compare(const CompareOptions& options);

/// Whether it is one of kOwnEngines.
bool is_own(std::string_view engine);

/// A URL without user, password and parameters, whatever it is made of.
std::string shown_url(std::string_view url);

}  // namespace holdfast::bench
