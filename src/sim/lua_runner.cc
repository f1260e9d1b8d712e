#include "sim/lua_runner.h"

#include <lua.hpp>
#include <utility>

#include "base/assert.h"
#include "sim/lua_values.h"

namespace holdfast::sim {
namespace {

using redis::Reply;

// What Redis itself runs before scripts, as far as ours can tell the difference.
constexpr const char* kPrelude = R"lua(
redis.error_reply = function(message) return {err = message} end
setmetatable(_G, {
  __index = function(_, name)
    error('Script attempted to access nonexistent global variable ' .. tostring(name), 2)
  end,
  __newindex = function(_, name)
    error('Attempt to modify a readonly table: ' .. tostring(name), 2)
  end,
})
)lua";

LuaRunner& runner_of(lua_State* lua) {
  return *static_cast<LuaRunner*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

}  // namespace

void LuaRunner::Close::operator()(lua_State* lua) const { lua_close(lua); }

LuaRunner::LuaRunner(Command command) : command_{std::move(command)}, lua_{luaL_newstate()} {
  HOLDFAST_ASSERT(lua_ != nullptr);
  for (const auto& [name, open] : {std::pair{"", &luaopen_base},
                                   {LUA_TABLIBNAME, &luaopen_table},
                                   {LUA_STRLIBNAME, &luaopen_string},
                                   {LUA_MATHLIBNAME, &luaopen_math}}) {
    lua_pushcfunction(lua_.get(), open);
    lua_pushstring(lua_.get(), name);
    lua_call(lua_.get(), 1, 0);
  }
  install_redis();
}

void LuaRunner::install_redis() {
  lua_State* lua = lua_.get();
  lua_newtable(lua);
  lua_pushlightuserdata(lua, this);
  lua_pushcclosure(lua, &LuaRunner::redis_call, 1);
  lua_setfield(lua, -2, "call");
  lua_pushlightuserdata(lua, this);
  lua_pushcclosure(lua, &LuaRunner::redis_pcall, 1);
  lua_setfield(lua, -2, "pcall");
  lua_setglobal(lua, "redis");
  const bool ready = luaL_dostring(lua, kPrelude) == 0;
  HOLDFAST_ASSERT(ready);
}

// lua_error() jumps out of this function, so nothing here may need destroying.
int LuaRunner::redis_call(lua_State* lua) {
  if (runner_of(lua).invoke()) return 1;
  return lua_error(lua);
}

int LuaRunner::redis_pcall(lua_State* lua) {
  runner_of(lua).invoke();
  return 1;
}

bool LuaRunner::invoke() {
  const std::vector<std::string> arguments = read_arguments(lua_.get());
  const Reply reply =
      arguments.empty()
          ? Reply::of_error("ERR Lua redis lib command arguments must be strings or integers")
          : command_(arguments);
  push_reply(lua_.get(), reply);
  return reply.kind != Reply::Kind::error;
}

bool LuaRunner::push_function(const redis::Script& script) {
  const auto known = compiled_.find(script.source);
  if (known != compiled_.end()) {
    lua_rawgeti(lua_.get(), LUA_REGISTRYINDEX, known->second);
    return true;
  }
  const std::string_view source = script.source;
  if (luaL_loadbuffer(lua_.get(), source.data(), source.size(), "@user_script") != 0) return false;
  lua_pushvalue(lua_.get(), -1);
  compiled_[source] = luaL_ref(lua_.get(), LUA_REGISTRYINDEX);
  return true;
}

void LuaRunner::set_list(const char* name, const std::vector<std::string>& values) {
  lua_State* lua = lua_.get();
  lua_pushstring(lua, name);
  lua_createtable(lua, static_cast<int>(values.size()), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    lua_pushlstring(lua, values[i].data(), values[i].size());
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
  lua_rawset(lua, LUA_GLOBALSINDEX);
}

Reply LuaRunner::run(const redis::ScriptCall& call) {
  lua_State* lua = lua_.get();
  set_list("KEYS", call.keys);
  set_list("ARGV", call.args);
  const bool ran = push_function(*call.script) && lua_pcall(lua, 0, 1, 0) == 0;
  Reply reply = read_reply(lua, lua_gettop(lua));
  if (!ran && reply.kind == Reply::Kind::text) reply = Reply::of_error("ERR " + reply.text);
  lua_settop(lua, 0);
  return reply;
}

}  // namespace holdfast::sim
