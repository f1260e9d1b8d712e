#include "holdfast/interval.h"

#include <utility>

#include "base/invalid.h"
#include "core/limits.h"
#include "holdfast/async_interval.h"
#include "recipes/as_awaitable.h"
#include "recipes/claim_interval.h"
#include "recipes/client_locks.h"
#include "recipes/lock_names.h"
#include "recipes/owned_options.h"
#include "recipes/run_here.h"

namespace holdfast {
namespace {

using recipes::ClientLocks;
using recipes::IntervalClaim;
using Begun = Result<IntervalRun, IntervalError>;

AcquireOptions of_the_job(const IntervalOptions& options) {
  return {.ttl = options.ttl,
          .wait = options.wait,
          .kind = options.kind,
          .lock_delay = options.lock_delay,
          .label = options.label,
          .trace_id = options.trace_id};
}

Result<void> check(const IntervalClaim& claim) {
  if (auto good = core::check_name(claim.interval_lock); !good) return good;
  if (claim.interval < kTtlMin || claim.interval > kTtlMax) {
    return invalid(
        "the interval of " + std::to_string(claim.interval.count()) + " ms is out of range",
        "use 100 ms to 24 h");
  }
  return core::check_options(claim.options);
}

/// The views are those of `options`.
Result<IntervalClaim> to_claim(Millis interval,
                               std::vector<std::string> names,
                               const AcquireOptions& options) {
  const std::string first = names.empty() ? std::string{} : names.front();
  if (auto good = recipes::put_in_order(names); !good) return Unexpected{std::move(good).error()};
  IntervalClaim claim{.interval_lock = interval_lock(first),
                      .interval = interval,
                      .names = std::move(names),
                      .options = options};
  if (auto good = check(claim); !good) return Unexpected{std::move(good).error()};
  return claim;
}

Task<Begun> begin(ClientLocks& locks,
                  Client client,
                  IntervalClaim claim,
                  std::string first,
                  std::stop_token stop) {
  std::string interval = claim.interval_lock;
  recipes::IntervalTaking<ClientLocks> taking{locks, std::move(claim), std::move(stop)};
  auto taken = co_await taking.run();
  if (!taken) co_return Unexpected{std::move(taken).error()};
  const Owner owner = taken->interval.owner();
  // Only session leases refuse, and this one is detached.
  static_cast<void>(taken->interval.detach());
  MultiLease lease{std::move(taken->locks)};
  const Token token = *lease.token(first);
  co_return IntervalRun{std::move(client), std::move(interval), owner, token, std::move(lease)};
}

Task<Begun> begin_in_task(Client client,
                          Millis interval,
                          std::vector<std::string> names,
                          recipes::OwnedOptions owned,
                          std::stop_token stop) {
  std::string first = names.empty() ? std::string{} : names.front();
  auto claim = to_claim(interval, std::move(names), owned.view());
  if (!claim) co_return Unexpected{IntervalError{std::move(claim).error()}};
  ClientLocks locks{client};
  auto begun = co_await begin(
      locks, std::move(client), *std::move(claim), std::move(first), std::move(stop));
  co_return begun;
}

}  // namespace

std::string interval_lock(std::string_view name) { return std::string{name} + "~interval"; }

IntervalRun::IntervalRun(
    Client client, std::string interval_lock, Owner owner, Token token, MultiLease lease)
    : client_{std::move(client)},
      interval_lock_{std::move(interval_lock)},
      owner_{owner},
      token_{token},
      lease_{std::move(lease)} {}

Result<ReleaseOutcome> IntervalRun::forget() {
  finish();
  return client_.release(interval_lock_, owner_);
}

Begun at_most_every(Millis interval,
                    Client& client,
                    std::vector<std::string> names,
                    const IntervalOptions& options,
                    std::stop_token stop) {
  const AcquireOptions of_job = of_the_job(options);
  std::string first = names.empty() ? std::string{} : names.front();
  auto claim = to_claim(interval, std::move(names), of_job);
  if (!claim) return Unexpected{IntervalError{std::move(claim).error()}};
  ClientLocks locks{client};
  const recipes::Chore renewal = renewal_of(locks, of_job);
  auto task = begin(locks, client, *std::move(claim), std::move(first), std::move(stop));
  return recipes::run_here(std::move(task), renewal);
}

boost::asio::awaitable<Begun> async_at_most_every(Millis interval,
                                                  Client client,
                                                  std::vector<std::string> names,
                                                  const IntervalOptions& options,
                                                  std::stop_token stop) {
  return recipes::as_awaitable(begin_in_task(std::move(client),
                                             interval,
                                             std::move(names),
                                             recipes::OwnedOptions{of_the_job(options)},
                                             std::move(stop)));
}

}  // namespace holdfast
