// Values between Redis and Lua, converted by Redis' rules.

#pragma once

#include <string_view>
#include <vector>

#include "engines/redis/redis_port.h"
#include "sim/redis/redis_answer.h"

struct lua_State;

namespace holdfast::sim {

/// Pushes a new table with the one field.
void push_field(lua_State* lua, const char* field, std::string_view text);

/// Pushes the answer: nil becomes false, an error becomes a table with the field `err`. Not for
/// Answer::Kind::ok.
void push_answer(lua_State* lua, const Answer& answer);

/// Reads the value at `index`, counted from the bottom: false becomes nil, a number loses its
/// fraction, a table ends at its first nil, and one with the field `err` or `ok` is that.
redis::Reply read_reply(lua_State* lua, int index);

enum class Reading : std::uint8_t { done, not_text };

/// Every argument on the stack as the text a command gets; views of the stack. not_text: one is
/// neither number nor string.
Reading read_words(lua_State* lua, std::vector<std::string_view>& words);

/// An error's message as Redis sends it: on one line.
std::string one_line(std::string_view message);

}  // namespace holdfast::sim
