// What the store asks of the server.

#pragma once

#include <string>
#include <string_view>

#include "core/store_repetition.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// The hash that has everything of one key. Keys have no control characters, nor have locks: no
/// lock can have this key. On a cluster, `{<key>}` decides where it lies.
std::string store_key(std::string_view prefix, Space space, std::string_view key);

/// The stream of what administrators did to the key, in the same slot.
std::string record_key(std::string_view prefix, Space space, std::string_view key);

/// One request, however often it is sent.
struct StoreTicket {
  /// Letters and digits.
  std::string id;
  /// The answer to a repetition comes at most this long after the first attempt, or is not used.
  Millis timeout;
  /// For the record.
  std::string who;
};

ScriptCall to_call(const StoreRequest& request,
                   std::string_view prefix,
                   const StoreTicket& ticket,
                   core::Attempt attempt);

}  // namespace holdfast::redis
