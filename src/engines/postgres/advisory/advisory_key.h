// Which advisory lock of PostgreSQL a name is.

#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::postgres {

/// A name `id:N` is the very key N, whatever the prefix, so that other programs can take it by
/// pg_advisory_lock(N): N as PostgreSQL writes a bigint. Any other name is the first 8 bytes of the
/// SHA-256 of prefix and name, the highest first. In SQL:
///
///   ('x' || encode(substr(sha256(convert_to(prefix || name, 'UTF8')), 1, 8), 'hex'))::bit(64)
///     ::bigint
std::int64_t advisory_key(std::string_view prefix, std::string_view name);

}  // namespace holdfast::postgres
