#include "sim/lua_values.h"

#include <array>
#include <cstdio>
#include <lua.hpp>

namespace holdfast::sim {
namespace {

using redis::Reply;

Reply read_table(lua_State* lua, int index) {
  lua_pushliteral(lua, "err");
  lua_rawget(lua, index);
  if (lua_isstring(lua, -1) != 0) {
    Reply error = Reply::of_error(lua_tostring(lua, -1));
    lua_pop(lua, 1);
    return error;
  }
  lua_pop(lua, 1);
  Reply array = Reply::of_array({});
  for (int at = 1;; ++at) {
    lua_rawgeti(lua, index, at);
    const bool end = lua_isnil(lua, -1);
    if (!end) array.items.push_back(read_reply(lua, lua_gettop(lua)));
    lua_pop(lua, 1);
    if (end) return array;
  }
}

std::string number_text(lua_Number number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", number);
  return text.data();
}

}  // namespace

void push_reply(lua_State* lua, const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::nil:
      lua_pushboolean(lua, 0);
      return;
    case Reply::Kind::integer:
      lua_pushnumber(lua, static_cast<lua_Number>(reply.integer));
      return;
    case Reply::Kind::text:
      lua_pushlstring(lua, reply.text.data(), reply.text.size());
      return;
    case Reply::Kind::error:
      lua_createtable(lua, 0, 1);
      lua_pushlstring(lua, reply.text.data(), reply.text.size());
      lua_setfield(lua, -2, "err");
      return;
    case Reply::Kind::array:
      lua_createtable(lua, static_cast<int>(reply.items.size()), 0);
      for (std::size_t i = 0; i < reply.items.size(); ++i) {
        push_reply(lua, reply.items[i]);
        lua_rawseti(lua, -2, static_cast<int>(i + 1));
      }
      return;
  }
}

Reply read_reply(lua_State* lua, int index) {
  switch (lua_type(lua, index)) {
    case LUA_TNUMBER:
      return Reply::of_integer(static_cast<std::int64_t>(lua_tonumber(lua, index)));
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(lua, index, &size);
      return Reply::of_text({text, size});
    }
    case LUA_TBOOLEAN:
      return lua_toboolean(lua, index) != 0 ? Reply::of_integer(1) : Reply{};
    case LUA_TTABLE:
      return read_table(lua, index);
    default:
      return {};
  }
}

std::vector<std::string> read_arguments(lua_State* lua) {
  std::vector<std::string> arguments;
  for (int index = 1; index <= lua_gettop(lua); ++index) {
    if (lua_type(lua, index) == LUA_TNUMBER) {
      arguments.push_back(number_text(lua_tonumber(lua, index)));
    } else if (lua_type(lua, index) == LUA_TSTRING) {
      arguments.push_back(read_reply(lua, index).text);
    } else {
      return {};
    }
  }
  return arguments;
}

}  // namespace holdfast::sim
