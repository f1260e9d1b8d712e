// Reading what the store's script answers.

#pragma once

#include "core/store_backend.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// What an answer says about earlier attempts of the same request that were not answered.
enum class Earlier : std::uint8_t {
  /// The answer is right for all of them together.
  settled,
  /// One of them may have been done, or may still be, all the same.
  open,
};

struct StoreAnswer {
  StoreResult result;
  Earlier earlier{Earlier::settled};
};

/// Besides what every store answers: corrupt when something else is at the key, or the answer makes
/// no sense; no_space, denied, unavailable, internal: the server refused, as the message says.
StoreAnswer read_store_answer(const StoreRequest& request, const Reply& reply);

}  // namespace holdfast::redis
