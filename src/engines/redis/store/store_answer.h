// Reading what the store's script answers.

#pragma once

#include "core/store_answer.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// Besides what every store answers: corrupt when something else is at the key, or the answer makes
/// no sense; no_space, denied, unavailable, internal: the server refused, as the message says.
core::StoreAnswer read_store_answer(const StoreRequest& request, const Reply& reply);

}  // namespace holdfast::redis
