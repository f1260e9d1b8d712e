// Reading what the store's functions answer.

#pragma once

#include "core/store_answer.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// Besides what every store answers: corrupt when the answer makes no sense; what the server
/// refused, as error_of() has it, with the key.
Result<core::StoreAnswer> read_store_answer(const StoreRequest& request,
                                            const Result<Answer>& answer);

}  // namespace holdfast::postgres
