// A semaphore between processes: at most N holders at a time, first come first served.
//
//     holdfast::Semaphore slots{client, "transcoder", 4};
//     auto slot = slots.acquire(1min);
//     if (!slot) return report(slot.error());
//
// Whoever dies gives its permit back, as with every lease. Permits are not fenced: several tokens
// are valid at once. All have to name the same number, invalid_argument otherwise.
//
// Thread safety: every member may be called from any thread. Lifetime: as Client; the leases may
// outlive it. holdfast/async_semaphore.h has the same for coroutines.

#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/client.h"

namespace holdfast {

/// How permits are acquired. The view is copied at once.
struct SemaphoreOptions {
  Millis ttl{30'000};
  std::string_view label{};
};

/// How much of a semaphore was in use at some moment.
struct SemaphoreUse {
  std::uint32_t held{0};
  std::uint32_t free{0};
  std::uint32_t waiting{0};
};

class Semaphore {
 public:
  Semaphore(Client client,
            std::string name,
            std::uint32_t permits,
            const SemaphoreOptions& options = {});

  /// One permit, waiting up to `wait`. Failures as Client::acquire(); unsupported: the engine has
  /// no permits.
  Result<Lease, AcquireError> acquire(Millis wait = kForever, std::stop_token stop = {});

  /// One attempt: Errc::busy if all permits are held.
  Result<Lease, AcquireError> try_acquire() { return acquire(Millis{0}); }

  /// Old news when it arrives: for people, not for decisions. Failures as Client::inspect().
  Result<SemaphoreUse> look();

  Client& client() { return client_; }
  const std::string& name() const { return name_; }
  std::uint32_t permits() const { return permits_; }
  /// What acquire() asks for. Its view points into this object.
  AcquireOptions request(Millis wait) const;

 private:
  Client client_;
  std::string name_;
  std::uint32_t permits_;
  Millis ttl_;
  std::string label_;
};

}  // namespace holdfast
