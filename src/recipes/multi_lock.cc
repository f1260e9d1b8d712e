#include "holdfast/multi_lock.h"

#include <algorithm>
#include <utility>

#include "base/invalid.h"
#include "core/limits.h"
#include "holdfast/async_multi_lock.h"
#include "recipes/as_awaitable.h"
#include "recipes/client_locks.h"
#include "recipes/lock_names.h"
#include "recipes/owned_options.h"
#include "recipes/released.h"
#include "recipes/run_here.h"
#include "recipes/take_all.h"

namespace holdfast {
namespace {

using recipes::ClientLocks;
using AcquiredAll = Result<MultiLease, AcquireError>;

Result<void> check(std::vector<std::string>& names, const AcquireOptions& options) {
  if (auto good = recipes::put_in_order(names); !good) return good;
  return core::check_options(options);
}

AcquiredAll joined(recipes::TakenAll<ClientLocks> taken) {
  if (!taken) return Unexpected{std::move(taken).error()};
  return MultiLease{std::move(*taken)};
}

Task<AcquiredAll> acquire_in_task(Client client,
                                  std::vector<std::string> names,
                                  recipes::OwnedOptions owned,
                                  std::stop_token stop) {
  const AcquireOptions options = owned.view();
  if (auto good = check(names, options); !good) co_return Unexpected{std::move(good).error()};
  const bool may_wait = options.wait > Millis{0} && names.size() > 1;
  if (may_wait && options.kind == LeaseKind::detached) {
    co_return Unexpected{AcquireError{
        Errc::unsupported,
        "nobody renews the first of several detached leases while the others are waited for",
        "use acquire_all(), one attempt, or session leases"}};
  }
  ClientLocks locks{std::move(client)};
  auto taken = co_await take_all(locks, std::move(names), options, std::move(stop));
  co_return joined(std::move(taken));
}

}  // namespace

AcquiredAll acquire_all(Client& client,
                        std::vector<std::string> names,
                        const AcquireOptions& options,
                        std::stop_token stop) {
  if (auto good = check(names, options); !good) return Unexpected{std::move(good).error()};
  if (names.size() == 1) {
    auto lease = client.acquire(names.front(), options, std::move(stop));
    if (!lease) return Unexpected{std::move(lease).error()};
    std::vector<Lease> leases;
    leases.push_back(std::move(*lease));
    return MultiLease{std::move(leases)};
  }
  ClientLocks locks{client};
  const recipes::Chore renewal = renewal_of(locks, options);
  auto task = take_all(locks, std::move(names), options, std::move(stop));
  return joined(recipes::run_here(std::move(task), renewal));
}

AcquiredAll try_acquire_all(Client& client,
                            std::vector<std::string> names,
                            AcquireOptions options) {
  options.wait = Millis{0};
  return acquire_all(client, std::move(names), options);
}

boost::asio::awaitable<AcquiredAll> async_acquire_all(Client client,
                                                      std::vector<std::string> names,
                                                      const AcquireOptions& options,
                                                      std::stop_token stop) {
  return recipes::as_awaitable(acquire_in_task(
      std::move(client), std::move(names), recipes::OwnedOptions{options}, std::move(stop)));
}

boost::asio::awaitable<ReleaseOutcome> async_release(MultiLease lease) {
  const ReleaseOutcome outcome = co_await recipes::as_awaitable(recipes::released(lease));
  co_return outcome;
}

}  // namespace holdfast
