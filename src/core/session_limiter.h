// SessionLimiter: the LimitDesk of a SessionBackend, for threads.
//
// Thread safety: any thread, but not within a task of the Env. Lifetime: keeps the backend alive.

#pragma once

#include <memory>
#include <string>

#include "core/limiter_backend.h"
#include "core/session_backend.h"

namespace holdfast::core {

class SessionLimiter final : public LimiterBackend {
 public:
  explicit SessionLimiter(std::shared_ptr<SessionBackend> backend) : backend_{std::move(backend)} {}

  Result<RateDecision> reserve(std::string_view key, const Take& take) override;
  /// The callback runs on the dispatcher's thread.
  void async_reserve(std::string key, const Take& take, ReserveCallback callback) override;

 private:
  std::shared_ptr<SessionBackend> backend_;
};

}  // namespace holdfast::core
