#include "sim/campaign.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "sim/world/chance.h"

namespace holdfast::sim {
namespace {

/// Seeds a thread takes at a time.
constexpr std::uint64_t kBatch = 16;

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_{options} {}

  Tally run();

 private:
  /// What became of one batch.
  struct Batch {
    Tally tally;
    bool whole{true};
  };

  std::uint64_t batches() const {
    return options_.seeds / kBatch + (options_.seeds % kBatch == 0 ? 0 : 1);
  }
  std::size_t jobs() const;
  Tally run_here();
  void work();
  Batch run_batch(std::uint64_t number) const;
  void add_in_order(std::unique_lock<std::mutex>& lock);

  const CampaignOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_{0};
  std::size_t working_{0};
  /// Done, and waiting for those before them.
  std::map<std::uint64_t, Batch> done_;
  std::uint64_t added_{0};
  bool cut_short_{false};
  Tally sum_;
};

std::size_t Campaign::jobs() const {
  const std::size_t wanted =
      options_.jobs == 0 ? std::thread::hardware_concurrency() : options_.jobs;
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(batches(), 1, std::max(wanted, std::size_t{1})));
}

Campaign::Batch Campaign::run_batch(std::uint64_t number) const {
  Batch batch;
  const std::uint64_t end = std::min((number + 1) * kBatch, options_.seeds);
  for (std::uint64_t i = number * kBatch; i < end; ++i) {
    if (options_.stop.stop_requested()) {
      batch.whole = false;
      return batch;
    }
    const std::uint64_t seed = options_.first_seed + i;
    const bool twice = i % kRepeatEvery == 0;
    batch.tally.add(
        twice ? run_twice(seed, options_.seed, options_.run) : options_.run(seed, options_.seed),
        options_.failures_max);
    batch.tally.repeated += twice ? 1 : 0;
  }
  return batch;
}

void Campaign::work() {
  std::unique_lock lock{mutex_};
  while (next_ < batches() && !options_.stop.stop_requested()) {
    const std::uint64_t number = next_++;
    lock.unlock();
    Batch batch = run_batch(number);
    lock.lock();
    done_.emplace(number, std::move(batch));
    changed_.notify_one();
  }
  --working_;
  changed_.notify_one();
}

void Campaign::add_in_order(std::unique_lock<std::mutex>& lock) {
  for (auto first = done_.begin(); first != done_.end() && first->first == added_ && !cut_short_;
       first = done_.begin()) {
    Batch batch = std::move(first->second);
    done_.erase(first);
    ++added_;
    cut_short_ = !batch.whole;
    sum_.append(std::move(batch.tally), options_.failures_max);
  }
  if (!options_.progress) return;
  lock.unlock();
  options_.progress(sum_);
  lock.lock();
}

// Without a thread of its own: one that is alone need not count references atomically.
Tally Campaign::run_here() {
  for (std::uint64_t number = 0; number < batches() && !cut_short_; ++number) {
    Batch batch = run_batch(number);
    cut_short_ = !batch.whole;
    sum_.append(std::move(batch.tally), options_.failures_max);
    if (options_.progress) options_.progress(sum_);
  }
  return std::move(sum_);
}

Tally Campaign::run() {
  if (jobs() == 1) return run_here();
  working_ = jobs();
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < jobs(); ++i) threads.emplace_back([this] { work(); });
  std::unique_lock lock{mutex_};
  const auto ready = [this] { return done_.contains(added_) || working_ == 0; };
  while (true) {
    changed_.wait(lock, ready);
    if (cut_short_ || !done_.contains(added_)) break;
    add_in_order(lock);
  }
  lock.unlock();
  threads.clear();
  return std::move(sum_);
}

void keep_first(std::vector<Failure>& failures, std::size_t max) {
  if (failures.size() > max) failures.resize(max);
}

}  // namespace

void Tally::add(const SeedReport& report, std::size_t failures_max) {
  ++seeds;
  events += report.events;
  grants += report.grants;
  losses += report.losses;
  refused_stale += report.refused_stale;
  writes += report.writes;
  lost_updates += report.lost_updates;
  losing_seeds += report.lost_updates > 0 ? 1 : 0;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    breaches[i] += report.breaches[i];
    drawn[i] += report.drawn.has(static_cast<FaultClass>(i)) ? 1 : 0;
  }
  failing_seeds += report.violations.empty() ? 0 : 1;
  std::set<std::string_view> seen;
  for (const Violation& violation : report.violations) {
    if (seen.insert(violation.checker).second) failures.push_back({report.seed, violation});
  }
  keep_first(failures, failures_max);
  // A sum, so that it does not matter in which order seeds were added.
  trace_hash += Chance{report.trace_hash ^ Chance{report.seed}.draw()}.draw();
}

void Tally::append(Tally later, std::size_t failures_max) {
  seeds += later.seeds;
  repeated += later.repeated;
  events += later.events;
  grants += later.grants;
  losses += later.losses;
  refused_stale += later.refused_stale;
  writes += later.writes;
  lost_updates += later.lost_updates;
  losing_seeds += later.losing_seeds;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    breaches[i] += later.breaches[i];
    drawn[i] += later.drawn[i];
  }
  failing_seeds += later.failing_seeds;
  failures.insert(failures.end(),
                  std::make_move_iterator(later.failures.begin()),
                  std::make_move_iterator(later.failures.end()));
  keep_first(failures, failures_max);
  trace_hash += later.trace_hash;
}

SeedReport run_twice(std::uint64_t seed, const SeedOptions& options, const SeedRunner& run) {
  SeedReport report = run(seed, options);
  SeedOptions silent = options;
  silent.trace = Trace::Keep::nothing;
  if (run(seed, silent).trace_hash != report.trace_hash) {
    report.violations.push_back(
        {std::string{kDeterminism}, "a second run of the same seed did not come out the same"});
  }
  return report;
}

Tally run_campaign(const CampaignOptions& options) { return Campaign{options}.run(); }

}  // namespace holdfast::sim
