// Timing of operations by Google Benchmark, several subjects in turns, so that whatever else the
// machine is doing hits all of them alike.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Something to time: `body` does the operation once.
struct Subject {
  std::string name;
  std::function<void()> body;
};

struct Timing {
  double p50_ns{0};
  double p99_ns{0};
};

/// The timing of each subject. The median is that of the calmest of several rounds.
std::vector<Timing> time_in_turns(const std::vector<Subject>& subjects);

/// As time_in_turns(), for operations that take much longer than reading the clock: each one is a
/// sample, in short batches by turns, and nothing is left out.
struct Turns {
  int rounds{0};
  int batch{0};
};
std::vector<Timing> time_each_in_turns(const std::vector<Subject>& subjects, Turns turns);

/// Median and 99th percentile of samples in nanoseconds.
Timing summarise(std::vector<double> samples);

}  // namespace holdfast::bench
