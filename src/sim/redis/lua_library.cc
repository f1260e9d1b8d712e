#include "sim/redis/lua_library.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <lua.hpp>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/decimal.h"

namespace holdfast::sim {
namespace {

// What Redis itself runs before scripts, as far as ours can tell the difference.
constexpr const char* kPrelude = R"lua(
dofile, loadfile, print, newproxy, getfenv, setfenv = nil
redis.status_reply = function(text) return {ok = text} end
redis.error_reply = function(text)
  if type(text) ~= 'string' then return {err = 'ERR wrong number or type of arguments'} end
  if string.sub(text, 1, 1) == '-' then text = string.sub(text, 2) end
  if not string.find(text, ' ', 1, true) then text = 'ERR ' .. text end
  return {err = text}
end
local error, tostring = error, tostring
setmetatable(_G, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
  __newindex = function() error('Attempt to modify a readonly table', 2) end,
})
)lua";

// Every whole number up to here is a lua_Number exactly.
constexpr std::size_t kExactDigits = 15;
constexpr lua_Number kExactMax = 9007199254740992;

// The function replaced, with all its arguments.
int call_replaced(lua_State* lua) {
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, 1);
  return 1;
}

int fast_tonumber(lua_State* lua) {
  if (lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(lua, 1, &size);
    if (size <= kExactDigits) {
      if (const auto number = parse_decimal<std::uint64_t>({text, size})) {
        lua_pushnumber(lua, static_cast<lua_Number>(*number));
        return 1;
      }
    }
  }
  return call_replaced(lua);
}

int fast_format(lua_State* lua) {
  if (lua_gettop(lua) == 2 && lua_type(lua, 1) == LUA_TSTRING && lua_type(lua, 2) == LUA_TNUMBER) {
    const lua_Number number = lua_tonumber(lua, 2);
    if (lua_tostring(lua, 1) == std::string_view{"%.0f"} && number > 0 && number <= kExactMax &&
        number == std::floor(number)) {
      std::array<char, 20> text{};
      const auto end =
          std::to_chars(text.begin(), text.end(), static_cast<std::uint64_t>(number)).ptr;
      lua_pushlstring(lua, text.data(), static_cast<std::size_t>(end - text.data()));
      return 1;
    }
  }
  return call_replaced(lua);
}

/// Quicker forms of two functions that cost our scripts about as much as their commands do: whole
/// numbers do not take the way over the C library's floating point. All else is left to those
/// replaced.
void install_fast_functions(lua_State* lua) {
  lua_getglobal(lua, "tonumber");
  lua_pushcclosure(lua, &fast_tonumber, 1);
  lua_setglobal(lua, "tonumber");
  lua_getglobal(lua, LUA_STRLIBNAME);
  lua_getfield(lua, -1, "format");
  lua_pushcclosure(lua, &fast_format, 1);
  lua_setfield(lua, -2, "format");
  lua_pop(lua, 1);
}

}  // namespace

void open_libraries(lua_State* lua) {
  for (const auto& [name, open] : {std::pair{"", &luaopen_base},
                                   {LUA_TABLIBNAME, &luaopen_table},
                                   {LUA_STRLIBNAME, &luaopen_string},
                                   {LUA_MATHLIBNAME, &luaopen_math}}) {
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
  }
  install_fast_functions(lua);
}

void seal_globals(lua_State* lua) {
  const bool ready = luaL_dostring(lua, kPrelude) == 0;
  HOLDFAST_ASSERT(ready);
}

}  // namespace holdfast::sim
