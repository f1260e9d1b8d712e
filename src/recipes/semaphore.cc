#include "holdfast/semaphore.h"

#include <algorithm>
#include <utility>

namespace holdfast {

Semaphore::Semaphore(Client client,
                     std::string name,
                     std::uint32_t permits,
                     const SemaphoreOptions& options)
    : client_{std::move(client)},
      name_{std::move(name)},
      permits_{permits},
      ttl_{options.ttl},
      label_{options.label} {}

AcquireOptions Semaphore::request(Millis wait) const {
  return {.mode = Mode::permit, .permits = permits_, .ttl = ttl_, .wait = wait, .label = label_};
}

Result<Lease, AcquireError> Semaphore::acquire(Millis wait, std::stop_token stop) {
  return client_.acquire(name_, request(wait), std::move(stop));
}

Result<SemaphoreUse> Semaphore::look() {
  auto lock = client_.inspect(name_);
  if (!lock) return Unexpected{std::move(lock).error()};
  const auto held = static_cast<std::uint32_t>(lock->holders.size());
  return SemaphoreUse{.held = held,
                      .free = permits_ - std::min(permits_, held),
                      .waiting = static_cast<std::uint32_t>(lock->waiters.size())};
}

}  // namespace holdfast
