// Values between Redis and Lua, converted by Redis' rules.

#pragma once

#include <string>
#include <vector>

#include "engines/redis/redis_port.h"

struct lua_State;

namespace holdfast::sim {

/// Pushes the reply: nil becomes false, an error becomes a table with the field `err`.
void push_reply(lua_State* lua, const redis::Reply& reply);

/// Reads the value at `index`: false becomes nil, a number loses its fraction, a table ends at its
/// first nil, and one with the field `err` is an error.
redis::Reply read_reply(lua_State* lua, int index);

/// Every argument on the stack as the text a command gets. Neither number nor string: empty list.
std::vector<std::string> read_arguments(lua_State* lua);

}  // namespace holdfast::sim
