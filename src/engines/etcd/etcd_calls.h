// The calls of an EtcdPort about leases, as awaitables.

#pragma once

#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

/// Awaited, asks `call` about the lease and waits for the answer. The port outlives the await.
template <void (EtcdPort::*call)(LeaseId, TimePoint, OnLease)>
auto lease_call(EtcdPort& port, LeaseId lease, TimePoint answer_by) {
  const auto start = [&port, lease, answer_by](auto handler) {
    (port.*call)(lease, answer_by, OnLease{std::move(handler)});
  };
  return completion<Result<LeaseAnswer>>(start);
}

inline auto kept_alive(EtcdPort& port, LeaseId lease, TimePoint answer_by) {
  return lease_call<&EtcdPort::keep_alive>(port, lease, answer_by);
}
inline auto revoked(EtcdPort& port, LeaseId lease, TimePoint answer_by) {
  return lease_call<&EtcdPort::revoke>(port, lease, answer_by);
}

/// Awaited, makes the lease and waits for the answer. The port outlives the await.
inline auto granted(EtcdPort& port, LeaseId lease, Seconds ttl, TimePoint answer_by) {
  const auto start = [&port, lease, ttl, answer_by](auto handler) {
    port.grant(lease, ttl, answer_by, OnLease{std::move(handler)});
  };
  return completion<Result<LeaseAnswer>>(start);
}

/// A lease that nobody has.
inline LeaseId fresh_lease(std::uint64_t draw) {
  const auto number = static_cast<std::int64_t>(draw >> 1);
  return {number > 0 ? number : 1};
}

/// etcd counts whole seconds.
inline Seconds whole_seconds(Millis ttl) { return std::chrono::ceil<Seconds>(ttl); }

}  // namespace holdfast::etcd
