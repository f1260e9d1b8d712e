// A Lease is the right to act as holder of a named lock until a deadline.
//
// The deadline is local and pessimistic: it is counted from the moment the request was sent, less
// an allowance for clock drift. A session lease is renewed in the background; past its deadline it
// is lost, even if no one could tell us.
//
// Thread safety: every member but the destructor and the moves may be called from any thread.
// Lifetime: a Lease keeps the client's core alive; it may outlive its Client. After fork() the
// child's copy is void: it holds nothing and its destructor does nothing.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/options.h"
#include "holdfast/result.h"
#include "holdfast/token.h"

namespace holdfast {

enum class LeaseState : std::uint8_t {
  held,
  /// Renewal is overdue but the lease still stands. Wind down, or hope.
  jeopardy,
  /// Treat it as gone.
  lost,
  released,
};

enum class LossReason : std::uint8_t {
  none,
  /// Not renewed in time; counted on the boot-time clock.
  expired,
  /// An operator forced the release.
  broken,
  /// The engine no longer knows the lease.
  gone,
  /// The process forked or the client shut down.
  abandoned,
  /// The engine's server restarted without it.
  restarted,
  /// Another server took over that did not have it.
  failed_over,
  /// The server ran out of memory and gave it up.
  evicted,
  /// Somebody emptied the server.
  flushed,
  /// The server's clock was moved forward, past its end.
  clock_stepped,
  /// Somebody removed it by other means than a release.
  removed,
  /// The engine ended it early, though it was renewed in time.
  revoked,
  /// The engine's data was put back to an earlier state.
  rolled_back,
};

enum class ReleaseOutcome : std::uint8_t {
  released,
  /// The lease had been lost: somebody else may have held the lock meanwhile.
  already_lost,
  /// No answer. The engine frees the lock at the end of its TTL at the latest.
  unknown,
};

std::string_view to_string(LeaseState state) noexcept;
std::string_view to_string(LossReason reason) noexcept;
std::string_view to_string(ReleaseOutcome outcome) noexcept;

/// A change in the life of a lease.
struct LeaseEvent {
  LeaseState state{LeaseState::held};
  LossReason reason{LossReason::none};
};

/// Implemented by engines; not for use by programs.
class LeaseCore;

class [[nodiscard]] Lease {
 public:
  explicit Lease(std::shared_ptr<LeaseCore> core);
  /// Releases the lock, best effort, without blocking beyond the engine's operation timeout.
  ~Lease();
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::string& name() const;
  Mode mode() const;
  /// Never absent. Send it with every write to the protected resource.
  Token token() const;
  /// The secret that renews and releases this lease. Keep it out of logs.
  Owner owner() const;
  /// The TTL in force, which the engine may have adjusted to its range.
  Millis ttl() const;

  LeaseState state() const;
  LossReason loss_reason() const;
  /// How long the lease still stands if nothing renews it. Zero when lost or released.
  Duration valid_for() const;
  TimePoint valid_until() const;

  /// Success while the lease stands, else Errc::lost with the reason. Call it before each step, and
  /// rely on the token, not on this answer: the process may be paused right after it.
  Result<void> ensure_held() const;

  /// Stop is requested when the lease is lost.
  std::stop_token stop_token() const;

  /// Calls back on every change of state, on a thread of Holdfast's own. The callback may call any
  /// member, release() included. Replaces an earlier callback; an empty function removes it, and
  /// when this returns no earlier callback is running (unless called from within one).
  void on_event(std::function<void(const LeaseEvent&)> callback);

  /// Extends the lease to its TTL from now. Session leases need no call.
  ///
  /// Errc::lost: somebody else may hold the lock already; stop at once.
  /// Errc::unknown_outcome: no answer came; the old deadline stands, renewing again is safe.
  Result<void> renew();

  /// Gives the lock up. Idempotent: a second call answers as the first did.
  ReleaseOutcome release();

  /// As release(), without blocking. The callback runs once, on a thread of the engine's or before
  /// this returns; it must not block, and so not call release(). The Lease may go meanwhile.
  /// holdfast/async.h has this for Asio's completion tokens.
  void async_release(std::function<void(ReleaseOutcome)> callback);

  /// Lets go of a detached lease without releasing it: it lives on until its TTL ends.
  /// Errc::unsupported for session leases, which cannot outlive their process.
  Result<void> detach();

  /// A string (domain, name, mode, token, owner fingerprint) to hand to a third party, who asks
  /// Client::check_sequencer whether it still stands. It gives no right to release.
  std::string sequencer() const;

 private:
  std::shared_ptr<LeaseCore> core_;
};

}  // namespace holdfast
