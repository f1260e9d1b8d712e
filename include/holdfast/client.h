// A Client takes locks at one engine.
//
//     auto client = holdfast::Client::connect("local:");
//     auto lease = client->acquire("reports/daily", {.ttl = 10s});
//     write_report(lease->token());
//
// Thread safety: every member may be called from any thread at any time.
// Lifetime: cheap to copy; copies share one core. Leases keep the core alive. After fork() the
// child must connect anew: calls answer Errc::shutting_down.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/inspect.h"
#include "holdfast/lease.h"
#include "holdfast/options.h"
#include "holdfast/result.h"
#include "holdfast/store.h"

namespace holdfast {

/// Why an acquisition gave no lease. Codes: busy (with the holder), timeout (with the holder),
/// cancelled, unavailable (with the answer of each node), unknown_outcome, invalid_argument,
/// unsupported, no_space, io_error, shutting_down.
struct AcquireError : Error {
  using Error::Error;
  AcquireError(Error error) : Error{std::move(error)} {}

  /// busy, timeout: one of those in the way, when it could be learnt.
  std::optional<Contender> holder{};
};

/// Whether a sequencer still stands, and if not, why.
struct SequencerStatus {
  bool stands{false};
  std::string reason;
};

/// What a forced release removed.
struct BreakReport {
  std::vector<Contender> holders;
};

class Client {
 public:
  /// Opens an engine by URL: `local:` or `local:/directory`; `redis://host:port/db`, `rediss://…`
  /// or `redis+unix:///socket`; `redis+cluster://host:port,…` or
  /// `redis+sentinel://host:port,…/name`; `redlock://host:port,host:port,host:port`. `?prefix=P`
  /// puts P before every lock name, and shows names without it; by default `local:` stores names as
  /// given and Redis puts `hf:` before them.
  ///
  /// invalid_argument: the URL; unsupported: an engine that is not in this build; corrupt,
  /// io_error, denied, no_space: the engine's state; unavailable, unknown_outcome: no answer.
  static Result<Client> connect(std::string_view url);

  explicit Client(std::shared_ptr<Backend> backend) : backend_{std::move(backend)} {}

  /// Takes the lock, waiting up to options.wait. First come, first served.
  Result<Lease, AcquireError> acquire(std::string_view name,
                                      const AcquireOptions& options = {},
                                      std::stop_token stop = {});

  /// One attempt: Errc::busy if somebody else holds the lock.
  Result<Lease, AcquireError> try_acquire(std::string_view name, AcquireOptions options = {});

  /// As acquire(), without blocking. The callback runs once, on a thread of the engine's or before
  /// this returns; it must not block. holdfast/async.h has this for Asio's completion tokens.
  void async_acquire(std::string_view name,
                     const AcquireOptions& options,
                     std::stop_token stop,
                     std::function<void(Result<Lease, AcquireError>)> callback);

  /// Extends a detached lease to `ttl` from now, never shortens it, and returns what may be relied
  /// on. lost: it ended, or that owner never had one on that name.
  Result<Duration> renew(std::string_view name, const Owner& owner, Millis ttl);

  /// Releases a detached lease. Idempotent.
  Result<ReleaseOutcome> release(std::string_view name, const Owner& owner);

  /// Who holds and who waits.
  Result<LockInfo> inspect(std::string_view name);

  /// Every lock that somebody holds or waits for, by name, where the name begins with `prefix`.
  Result<std::vector<LockInfo>> list(std::string_view prefix = {});

  /// Calls back for every change of a lock whose name begins with `prefix`, beginning with what is
  /// held and waited for now, until `stop` is requested. Blocks; the callback runs on this thread.
  Result<void> watch(std::string_view prefix,
                     const std::function<void(const LockEvent&)>& callback,
                     std::stop_token stop);

  /// Forces the release of whatever holds the lock. The holder learns of it as LossReason::broken;
  /// `why` goes to the engine's audit record. not_found: nobody holds it.
  Result<BreakReport> break_lock(std::string_view name, std::string_view why);

  /// Whether a lease's sequencer() still stands. invalid_argument: it is not a sequencer.
  Result<SequencerStatus> check_sequencer(std::string_view sequencer);

  /// The store of the same engine, opened when first asked for. unsupported: it has none; corrupt,
  /// io_error, denied, no_space, unavailable: its state.
  Result<Store> store();

  Capabilities capabilities() const;

  /// The engine's URL, complete and without credentials.
  std::string engine() const;

  /// Engine identity as sequencers and stores spell it.
  std::string domain() const;

  const std::shared_ptr<Backend>& backend() const { return backend_; }

 private:
  std::shared_ptr<Backend> backend_;
};

}  // namespace holdfast
