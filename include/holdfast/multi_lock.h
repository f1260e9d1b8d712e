// Several locks at once, all or none.
//
//     auto lease = holdfast::acquire_all(client, {"accounts/ann", "accounts/bob"}, {.wait = 5s});
//     if (!lease) return report(lease.error());
//     transfer(*lease->token("accounts/ann"), *lease->token("accounts/bob"));
//
// Nobody can wait in a circle: names are taken in one order by everybody, whatever the order in
// which they are given. While nobody is in the way, all are asked for together, and that is one
// round trip at engines with servers. Otherwise who waits for a name holds those before it, and
// nothing that comes after it. A name after the one in the way may be taken for a moment and given
// back: who tries it once, just then, finds it busy.
//
// The names are a set: a name that is given twice is taken once.
// holdfast/async_multi_lock.h has the same for coroutines.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/client.h"
#include "holdfast/lease.h"
#include "holdfast/options.h"
#include "holdfast/result.h"

namespace holdfast {

/// As many names as can be taken at once.
inline constexpr std::size_t kNamesMax = 32;

/// The right to act as holder of several locks. It stands as long as all of them do: when one is
/// lost, stop acting and release the rest.
///
/// Thread safety and lifetime: as Lease. A moved-from object may only be destroyed or assigned to.
class [[nodiscard]] MultiLease {
 public:
  /// Of leases of different names, in the order of their names; at least one.
  explicit MultiLease(std::vector<Lease> leases);
  /// Releases what was not released or detached, all at once, best effort, without blocking beyond
  /// twice the engine's operation timeout.
  ~MultiLease();
  MultiLease(MultiLease&&) noexcept;
  MultiLease& operator=(MultiLease&& other) noexcept;
  MultiLease(const MultiLease&) = delete;
  MultiLease& operator=(const MultiLease&) = delete;

  /// One for each name, in the order of the names.
  const std::vector<Lease>& leases() const;
  /// Null: the name is not among them.
  const Lease* find(std::string_view name) const;
  /// Each name has a token of its own: send it with every write to what that name protects. Empty:
  /// the name is not among them.
  std::optional<Token> token(std::string_view name) const;

  /// lost when one of them is, released when they were given up, jeopardy when one of them is.
  LeaseState state() const;
  /// Of the first that was lost, by name.
  LossReason loss_reason() const;
  /// How long all of them still stand: until the earliest deadline. Zero when one is lost.
  Duration valid_for() const;
  TimePoint valid_until() const;

  /// Success while all of them stand, else Errc::lost with the name and the reason.
  Result<void> ensure_held() const;

  /// Stop is requested when the first of them is lost.
  std::stop_token stop_token() const;

  /// Extends each to its TTL from now. Session leases need no call. Errc::lost when one is, else
  /// unknown_outcome when one was not answered: the old deadline stands, renewing again is safe.
  Result<void> renew();

  /// Gives all of them up at once. released: all were; already_lost: one had been lost; unknown:
  /// one was not answered. Idempotent.
  ReleaseOutcome release();

  /// As release(), without blocking, as Lease::async_release().
  void async_release(std::function<void(ReleaseOutcome)> callback);

  /// As Lease::detach(), for each of them.
  Result<void> detach();

 private:
  class State;

  std::unique_ptr<State> state_;
};

/// Takes every lock, waiting up to options.wait for all of them together. The options are those of
/// each. First come, first served, at each name by itself.
///
/// Failures as Client::acquire(), with nothing held; busy and timeout name the holder of the first
/// name that was not to be had. invalid_argument: no name, more than kNamesMax, or one that is
/// wrong. Do not call it within a callback of Holdfast's: it waits for others.
Result<MultiLease, AcquireError> acquire_all(Client& client,
                                             std::vector<std::string> names,
                                             const AcquireOptions& options = {},
                                             std::stop_token stop = {});

/// One attempt: Errc::busy if somebody else holds one of them.
Result<MultiLease, AcquireError> try_acquire_all(Client& client,
                                                 std::vector<std::string> names,
                                                 AcquireOptions options = {});

}  // namespace holdfast
