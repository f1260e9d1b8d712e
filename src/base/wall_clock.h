// The wall clock: for records that people read and for what is kept a day. It may jump; nothing
// that must be exact depends on it.

#pragma once

#include <cstdint>

namespace holdfast {

/// Milliseconds since 1970.
std::int64_t wall_ms() noexcept;

}  // namespace holdfast
