// LocalLimiter: the rate limits of one machine. A decision is made on the calling thread.
//
// Thread safety: any thread. In a forked child everything answers shutting_down.

#pragma once

#include <memory>
#include <string>

#include "core/limiter_backend.h"
#include "engines/local/limit_table.h"

namespace holdfast::local {

class LocalLimiter final : public LimiterBackend {
 public:
  /// Fails as LimitFile::open.
  static Result<std::shared_ptr<LimiterBackend>> open(const std::string& directory);

  explicit LocalLimiter(std::unique_ptr<LimitTable> table);
  ~LocalLimiter() override;

  Result<RateDecision> reserve(std::string_view key, const core::Take& take) override;
  /// The callback runs before this returns.
  void async_reserve(std::string key, const core::Take& take, ReserveCallback callback) override;

 private:
  bool forked() const;

  std::unique_ptr<LimitTable> table_;
  std::uint32_t generation_;
};

}  // namespace holdfast::local
