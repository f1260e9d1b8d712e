// The part of Lua's library that scripts find in Redis.

#pragma once

struct lua_State;

namespace holdfast::sim {

/// Gives a new state the base, table, string and math libraries.
void open_libraries(lua_State* lua);

/// Completes the table `redis`, which must be there, takes away what Redis takes away, and makes
/// missing and new globals errors.
void seal_globals(lua_State* lua);

}  // namespace holdfast::sim
