#include "bench/sampling.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "holdfast/clock.h"

namespace holdfast::bench {
namespace {

constexpr int kRounds = 7;
constexpr int kBatch = 64;
constexpr double kSecondsPerRound = 0.12;

// Takes each run's samples out of Google Benchmark, and prints nothing.
class Silence : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// One sample is the mean of a batch: reading the clock costs as much as an operation.
void measure(benchmark::State& state, const Subject& subject, std::vector<double>& samples) {
  for (auto _ : state) {
    const TimePoint before = BootClock::now();
    for (int i = 0; i < kBatch; ++i) subject.body();
    const Duration spent = BootClock::now() - before;
    samples.push_back(static_cast<double>(spent.count()) / kBatch);
    state.SetIterationTime(static_cast<double>(spent.count()) * 1e-9);
  }
}

}  // namespace

Timing summarise(std::vector<double> samples) {
  HOLDFAST_ASSERT(!samples.empty());
  std::ranges::sort(samples);
  return {.p50_ns = samples[samples.size() / 2], .p99_ns = samples[samples.size() * 99 / 100]};
}

std::vector<Timing> time_in_turns(const std::vector<Subject>& subjects) {
  std::vector<Timing> best(subjects.size(), Timing{.p50_ns = 1e18, .p99_ns = 1e18});
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<double>> samples(subjects.size());
    benchmark::ClearRegisteredBenchmarks();
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      benchmark::RegisterBenchmark(
          subjects[i].name.c_str(),
          [&, i](benchmark::State& state) { measure(state, subjects[i], samples[i]); })
          ->UseManualTime()
          ->MinTime(kSecondsPerRound);
    }
    Silence silence;
    benchmark::RunSpecifiedBenchmarks(&silence);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const Timing timing = summarise(std::move(samples[i]));
      if (timing.p50_ns < best[i].p50_ns) best[i] = timing;
    }
  }
  benchmark::ClearRegisteredBenchmarks();
  return best;
}

std::vector<Timing> time_each_in_turns(const std::vector<Subject>& subjects, Turns turns) {
  std::vector<std::vector<double>> samples(subjects.size());
  for (int round = 0; round < turns.rounds; ++round) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      for (int n = 0; n < turns.batch; ++n) {
        const TimePoint before = BootClock::now();
        subjects[i].body();
        samples[i].push_back(static_cast<double>((BootClock::now() - before).count()));
      }
    }
  }
  std::vector<Timing> timings;
  for (auto& each : samples) timings.push_back(summarise(std::move(each)));
  return timings;
}

}  // namespace holdfast::bench
