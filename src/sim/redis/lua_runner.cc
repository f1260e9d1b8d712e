#include "sim/redis/lua_runner.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <lua.hpp>
#include <utility>

#include "base/assert.h"
#include "base/hex.h"
#include "sim/redis/lua_library.h"
#include "sim/redis/lua_values.h"

namespace holdfast::sim {
namespace {

using redis::Reply;

constexpr Answer kNoWords =
    Answer::of_error("ERR Please specify at least one argument for this redis lib call");
constexpr Answer kNotText =
    Answer::of_error("ERR Lua redis lib command arguments must be strings or integers");

LuaRunner& runner_of(lua_State* lua) {
  return *static_cast<LuaRunner*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

// The name Redis gives a script.
std::string sha1(std::string_view source) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(source.data(), source.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return to_hex({digest.data(), size});
}

}  // namespace

void LuaRunner::Close::operator()(lua_State* lua) const { lua_close(lua); }

LuaRunner& LuaRunner::of_this_thread() {
  thread_local LuaRunner runner;
  return runner;
}

LuaRunner::LuaRunner() : lua_{lua_newstate(&LuaArena::allocate, &arena_)} {
  HOLDFAST_ASSERT(lua_ != nullptr);
  lua_State* lua = lua_.get();
  open_libraries(lua);
  install_redis();
  keys_ = make_list("KEYS");
  args_ = make_list("ARGV");
  push_answer(lua, Answer::of_ok());
  ok_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_pushlightuserdata(lua, this);
  lua_pushcclosure(lua, &LuaRunner::locate_error, 1);
  handler_ = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_gc(lua, LUA_GCSTOP, 0);
}

void LuaRunner::add_function(const char* name, int (*function)(lua_State*)) {
  lua_pushlightuserdata(lua_.get(), this);
  lua_pushcclosure(lua_.get(), function, 1);
  lua_setfield(lua_.get(), -2, name);
}

void LuaRunner::install_redis() {
  lua_newtable(lua_.get());
  add_function("call", &LuaRunner::redis_call);
  add_function("pcall", &LuaRunner::redis_pcall);
  lua_setglobal(lua_.get(), "redis");
  seal_globals(lua_.get());
}

LuaRunner::List LuaRunner::make_list(const char* name) {
  lua_State* lua = lua_.get();
  lua_pushstring(lua, name);
  lua_createtable(lua, 8, 0);
  lua_pushvalue(lua, -1);
  const int reference = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_rawset(lua, LUA_GLOBALSINDEX);
  return {.reference = reference};
}

void LuaRunner::fill(List& list, const std::vector<std::string>& values) {
  lua_State* lua = lua_.get();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, list.reference);
  for (std::size_t at = list.values.size(); at > values.size(); --at) {
    lua_pushnil(lua);
    lua_rawseti(lua, -2, static_cast<int>(at));
  }
  const std::size_t known = std::min(list.values.size(), values.size());
  list.values.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i < known && list.values[i] == values[i]) continue;
    list.values[i] = values[i];
    lua_pushlstring(lua, values[i].data(), values[i].size());
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
  lua_pop(lua, 1);
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
  lua_State* lua = lua_.get();
  const Reading reading = read_words(lua, words_);
  const Answer answer = reading == Reading::not_text ? kNotText
                        : words_.empty()             ? kNoWords
                                                     : commands_->call(words_);
  if (answer.kind == Answer::Kind::ok) {
    // Every one has its own in Redis. Ours do not write to it, and this is where time goes.
    lua_rawgeti(lua, LUA_REGISTRYINDEX, ok_);
  } else {
    push_answer(lua, answer);
  }
  return answer.kind != Answer::Kind::error;
}

// Makes the message of any error, and notes the script's line.
int LuaRunner::locate_error(lua_State* lua) {
  lua_Debug place{};
  for (int level = 1; level <= 2 && lua_getstack(lua, level, &place) != 0; ++level) {
    lua_getinfo(lua, "Sl", &place);
    if (place.what != std::string_view{"C"}) break;
  }
  LuaRunner& runner = runner_of(lua);
  runner.error_place_ = place.source != nullptr ? place.source : "";
  runner.error_place_ += ':' + std::to_string(place.currentline);
  if (lua_istable(lua, 1)) {
    lua_getfield(lua, 1, "err");
    return 1;
  }
  lua_getglobal(lua, "tostring");
  lua_pushvalue(lua, 1);
  lua_call(lua, 1, 1);
  lua_pushliteral(lua, "ERR ");
  lua_insert(lua, -2);
  lua_concat(lua, 2);
  return 1;
}

bool LuaRunner::push_function(const redis::Script& script) {
  lua_State* lua = lua_.get();
  const std::string_view source = script.source;
  for (const Compiled& known : compiled_) {
    if (known.source.data() != source.data() || known.source.size() != source.size()) continue;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, known.reference);
    return true;
  }
  if (luaL_loadbuffer(lua, source.data(), source.size(), "@user_script") != 0) return false;
  lua_pushvalue(lua, -1);
  compiled_.push_back({source, luaL_ref(lua, LUA_REGISTRYINDEX)});
  return true;
}

Reply LuaRunner::failure(const redis::Script& script) {
  const Reply message = read_reply(lua_.get(), lua_gettop(lua_.get()));
  return Reply::of_error(
      one_line(message.text + " script: " + sha1(script.source) + ", on " + error_place_ + "."));
}

Reply LuaRunner::run(const redis::ScriptCall& call, Commands& commands) {
  lua_State* lua = lua_.get();
  commands_ = &commands;
  fill(keys_, call.keys);
  fill(args_, call.args);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, handler_);
  Reply reply;
  if (!push_function(*call.script)) {
    const std::string message = read_reply(lua, lua_gettop(lua)).text;
    reply = Reply::of_error("ERR Error compiling script (new function): " + one_line(message));
  } else if (lua_pcall(lua, 0, 1, 1) != 0) {
    reply = failure(*call.script);
  } else {
    reply = read_reply(lua, lua_gettop(lua));
  }
  lua_settop(lua, 0);
  collect_garbage();
  return reply;
}

std::size_t LuaRunner::memory_kb() const {
  return static_cast<std::size_t>(lua_gc(lua_.get(), LUA_GCCOUNT, 0));
}

// All at once, and seldom: what lives between two scripts is little.
void LuaRunner::collect_garbage() {
  constexpr std::size_t kMemoryMaxKb = 256;
  if (memory_kb() <= kMemoryMaxKb) return;
  lua_gc(lua_.get(), LUA_GCCOLLECT, 0);
  lua_gc(lua_.get(), LUA_GCSTOP, 0);
}

}  // namespace holdfast::sim
