#include "engines/local/local_limiter.h"

#include <utility>

#include "base/fork.h"

namespace holdfast::local {

Result<std::shared_ptr<LimiterBackend>> LocalLimiter::open(const std::string& directory) {
  auto file = LimitFile::open(directory);
  if (!file) return Unexpected{std::move(file).error()};
  return std::shared_ptr<LimiterBackend>{
      std::make_shared<LocalLimiter>(std::make_unique<LimitTable>(*std::move(file)))};
}

LocalLimiter::LocalLimiter(std::unique_ptr<LimitTable> table)
    : table_{std::move(table)}, generation_{fork_generation()} {}

LocalLimiter::~LocalLimiter() {
  // The child does not have the mapping: something else may be there by now.
  if (forked()) static_cast<void>(table_.release());
}

bool LocalLimiter::forked() const { return fork_generation() != generation_; }

Result<RateDecision> LocalLimiter::reserve(std::string_view key, const core::Take& take) {
  if (forked()) [[unlikely]] {
    return Unexpected{Error{Errc::shutting_down, "the process has forked since it connected"}};
  }
  return table_->reserve(key, take, BootClock::now());
}

void LocalLimiter::async_reserve(std::string key,
                                 const core::Take& take,
                                 ReserveCallback callback) {
  callback(reserve(key, take));
}

}  // namespace holdfast::local
