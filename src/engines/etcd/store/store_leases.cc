#include "engines/etcd/store/store_leases.h"

#include <utility>

#include "engines/etcd/etcd_calls.h"

namespace holdfast::etcd {

Seconds granted_for(Duration time) {
  const auto whole = std::chrono::ceil<Seconds>(time);
  return whole + whole / 16 + Seconds{1};
}

Task<Result<LeaseId>> StoreLeases::lasting(Duration time, TimePoint answer_by) {
  const Seconds ttl = granted_for(time);
  const auto known = leases_.find(ttl.count());
  if (known != leases_.end() && env_.now() + time <= known->second.until) {
    co_return known->second.id;
  }
  const LeaseId id = fresh_lease(env_.draw());
  const TimePoint sent_at = env_.now();
  auto answer = co_await granted(port_, id, ttl, answer_by);
  if (!answer) co_return Unexpected{std::move(answer).error()};
  leases_.insert_or_assign(ttl.count(), Granted{id, sent_at + ttl});
  co_return id;
}

}  // namespace holdfast::etcd
