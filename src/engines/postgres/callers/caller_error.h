// What a refusal means to those who call inside their own transaction.

#pragma once

#include "holdfast/postgres.h"

namespace holdfast::postgres {

/// The tokens of `yours=33 highest=34`, wherever the server's words have them.
StoreError to_store_error(const SqlError& error);

/// Without the fence's codes.
AcquireError to_acquire_error(const SqlError& error);

}  // namespace holdfast::postgres
