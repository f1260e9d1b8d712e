#include "sim/shrink.h"

#include <algorithm>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

class Shrinker {
 public:
  Shrinker(const SeedOptions& options,
           const SeedReport& failed,
           std::string_view checker,
           const Rerun& rerun)
      : checker_{checker}, rerun_{rerun}, events_{failed.events} {
    const Violation* violation = find_violation(failed, checker);
    HOLDFAST_ASSERT(violation != nullptr);
    best_ = {.options = options, .violation = *violation};
    if (options.stop_after <= failed.events) best_.ending = Ending::prefix;
  }

  Shrunk run(FaultSet drawn) {
    drop_faults(drawn);
    if (!shorten(Ending::prefix)) shorten(Ending::healed);
    return best_;
  }

 private:
  /// Keeps the options if they fail in the same way.
  bool still_fails(const SeedOptions& options);
  void drop_faults(FaultSet drawn);
  bool shorten(Ending ending);

  std::string_view checker_;
  const Rerun& rerun_;
  Shrunk best_;
  /// Of the best run so far.
  std::uint64_t events_;
};

bool Shrinker::still_fails(const SeedOptions& options) {
  const SeedReport report = rerun_(options);
  ++best_.runs;
  const Violation* violation = find_violation(report, checker_);
  if (violation == nullptr) return false;
  best_.options = options;
  best_.violation = *violation;
  events_ = report.events;
  return true;
}

// One class less changes the course of events, so that another may become needless: until none is.
void Shrinker::drop_faults(FaultSet drawn) {
  SeedOptions options = best_.options;
  options.faults = options.faults.both(drawn);
  if (!still_fails(options)) return;
  for (bool fewer = true; fewer;) {
    fewer = false;
    for (std::size_t i = 0; i < kFaultClasses; ++i) {
      const auto kind = static_cast<FaultClass>(i);
      options = best_.options;
      if (!options.faults.has(kind)) continue;
      options.faults = options.faults.without(kind);
      fewer = still_fails(options) || fewer;
    }
  }
}

// Halves what is between a length that does not fail and one that does.
bool Shrinker::shorten(Ending ending) {
  const auto length = ending == Ending::prefix ? &SeedOptions::stop_after : &SeedOptions::events;
  SeedOptions options = best_.options;
  options.*length = std::min(options.*length, events_);
  if (!still_fails(options)) return false;
  best_.ending = ending;
  std::uint64_t good = 0;
  while (best_.options.*length - good > 1) {
    options.*length = good + (best_.options.*length - good) / 2;
    if (!still_fails(options)) good = options.*length;
  }
  return true;
}

}  // namespace

Shrunk shrink(const SeedOptions& options,
              const SeedReport& failed,
              std::string_view checker,
              const Rerun& rerun) {
  return Shrinker{options, failed, checker, rerun}.run(failed.drawn);
}

const Violation* find_violation(const SeedReport& report, std::string_view checker) {
  const auto found = std::ranges::find(report.violations, checker, &Violation::checker);
  return found == report.violations.end() ? nullptr : &*found;
}

}  // namespace holdfast::sim
