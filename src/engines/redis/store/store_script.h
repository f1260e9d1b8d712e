// The store's Lua: rows.lua, fence.lua and operations.lua, which say what every operation takes and
// answers.

#pragma once

#include <string_view>

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// All operations in one script. KEYS: the key, and for a rebase its record; ARGV: the operation,
/// an id that is the same in every repetition of a request, the age in microseconds that its first
/// attempt may have (empty in that one), then what the operation takes.
extern const Script kStoreScript;

/// The same operations for `FUNCTION LOAD REPLACE`, under the names hf_open, hf_put and so on.
extern const std::string_view kStoreLibrary;

}  // namespace holdfast::redis
