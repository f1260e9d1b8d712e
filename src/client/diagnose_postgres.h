// Whether a PostgreSQL server is set up so that its locks are safe.

#pragma once

#include "client/diagnose.h"

namespace holdfast {

/// As the URL's mode needs it. Changes nothing, and makes no schema. Errors as diagnose().
Result<Diagnosis> diagnose_postgres(std::string_view url);

}  // namespace holdfast
