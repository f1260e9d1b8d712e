// A job that runs at most once per interval, whoever starts it and wherever.
//
//     auto run = holdfast::at_most_every(10min, client, {"reports/daily"});
//     if (!run) return run.error().code == Errc::busy ? not_due() : report(run.error());
//     write_report(run->token());
//
// The interval begins when the run does, and is itself a lock, `reports/daily~interval`, held by a
// detached lease whose TTL is the interval. The engine's clock ends it and no other clock counts,
// so that hosts whose clocks differ do not run the job twice. It outlives the run, the process and
// the host: a run that fails or dies is not repeated before its interval is over, unless it says
// so by forget(). A run that takes longer than its interval keeps the next one out.
//
// An engine that loses its locks loses intervals too: see its page. holdfast/async_interval.h has
// the same for coroutines.

#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/multi_lock.h"

namespace holdfast {

struct IntervalOptions {
  /// Of the lease under which the job runs, which is renewed.
  Millis ttl{30'000};
  /// How long to wait for the interval before to end, and for whoever holds one of the names. Zero:
  /// one attempt, then Errc::busy.
  Millis wait{0};
  LeaseKind kind = LeaseKind::session;
  Millis lock_delay{0};
  std::string_view label{};
  std::string_view trace_id{};
};

/// Why no run was begun.
struct IntervalError : AcquireError {
  using AcquireError::AcquireError;
  IntervalError(AcquireError error) : AcquireError{std::move(error)} {}

  /// busy, timeout: how long the interval before still lasts, if that is what is in the way.
  std::optional<Millis> due_in{};
};

/// The lock that is held for the whole interval of the job that runs under `name`.
std::string interval_lock(std::string_view name);

/// One run of a job. Destroying it releases the job's lease; the interval stays.
///
/// Thread safety and lifetime: as MultiLease.
class [[nodiscard]] IntervalRun {
 public:
  /// What at_most_every() took. The interval's lease is left to itself already.
  IntervalRun(Client client, std::string interval_lock, Owner owner, Token token, MultiLease lease);

  /// The right to run the job: stop when it is lost.
  const MultiLease& lease() const { return lease_; }
  MultiLease& lease() { return lease_; }
  /// Of the first name. Send it with every write.
  Token token() const { return token_; }

  /// The job is done: its lease is given up, and the interval stays.
  ReleaseOutcome finish() { return lease_.release(); }

  /// As finish(), and gives the interval back: the job may run again at once. For a job that
  /// failed and may be repeated. Failures as Client::release().
  Result<ReleaseOutcome> forget();

 private:
  Client client_;
  std::string interval_lock_;
  Owner owner_;
  Token token_;
  MultiLease lease_;
};

/// Begins a run under all of the names, of which the first names the interval.
///
/// busy: the interval before is not over, and due_in says how long it still lasts; or somebody
/// holds one of the names. timeout: the same, after options.wait. invalid_argument: the interval is
/// not 100 ms to 24 h, or as acquire_all(). unsupported: the engine has no detached leases, or none
/// as long as the interval. Other failures as Client::acquire(). Nothing is held then.
/// Do not call it within a callback of Holdfast's.
Result<IntervalRun, IntervalError> at_most_every(Millis interval,
                                                 Client& client,
                                                 std::vector<std::string> names,
                                                 const IntervalOptions& options = {},
                                                 std::stop_token stop = {});

}  // namespace holdfast
