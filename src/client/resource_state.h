// What a Resource is made of.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/store_backend.h"
#include "holdfast/store.h"

namespace holdfast {

/// Thread safety: any thread.
struct Resource::State {
  State(std::shared_ptr<StoreBackend> backend,
        std::string key_in,
        core::Holder holder_in,
        std::uint64_t last)
      : store{std::move(backend)},
        key{std::move(key_in)},
        holder{std::move(holder_in)},
        sequence{last} {}

  const std::shared_ptr<StoreBackend> store;
  const std::string key;
  const core::Holder holder;

  std::mutex mutex;
  std::condition_variable idle;
  bool in_flight{false};
  std::uint64_t sequence;
  /// The operation whose outcome is unknown: a value, or an erase.
  std::optional<std::optional<std::string>> unsettled;
};

}  // namespace holdfast
