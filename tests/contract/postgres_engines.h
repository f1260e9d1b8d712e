// PostgreSQL as the contract suite meets it. Each server is one for all tests of the program, which
// have prefixes of their own.

#pragma once

#include "tests/contract/engines.h"

namespace holdfast::contract {

/// `prefix` as it stands in a URL, such as `prefix=hf/1/`; `mode` as PostgreSQL URLs have it.
FreshEngine fresh_postgres(const std::string& mode, const std::string& prefix);

/// Behind PgBouncer, which gives a server connection to every transaction.
FreshEngine fresh_pooled_postgres(const std::string& prefix);

/// A server that speaks TLS alone, and the roles of docs/guide/postgres.md: an application's, and
/// an operator's.
FreshEngine fresh_guarded_postgres(const std::string& mode, const std::string& prefix);

}  // namespace holdfast::contract
