// What the store asks of the server.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/store_repetition.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// One request, however often it is sent.
struct StoreTicket {
  std::uint64_t id;
  /// The answer to a repetition comes at most this long after the first attempt, or is not used.
  Millis timeout;
  /// For the record.
  std::string who;
};

/// Every answer is one row, as store_answer.h reads it.
Call to_call(const StoreRequest& request,
             std::string_view prefix,
             const StoreTicket& ticket,
             core::Attempt attempt);

}  // namespace holdfast::postgres
