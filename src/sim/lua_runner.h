// LuaRunner: runs the scripts we ship as Redis does, under Lua 5.1, with redis.call given by us.
//
// As in Redis, only the base, table, string and math libraries are there, globals can be neither
// made nor missed silently, and values are converted by Redis' rules.
//
// Thread safety: none.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/redis/redis_port.h"

struct lua_State;

namespace holdfast::sim {

class LuaRunner {
 public:
  /// A command and its arguments, as redis.call passes them on.
  using Command = std::function<redis::Reply(const std::vector<std::string>&)>;

  explicit LuaRunner(Command command);
  LuaRunner(const LuaRunner&) = delete;
  LuaRunner& operator=(const LuaRunner&) = delete;

  /// The script's answer; an error reply when it does not compile or raises an error.
  redis::Reply run(const redis::ScriptCall& call);

 private:
  struct Close {
    void operator()(lua_State* lua) const;
  };

  static int redis_call(lua_State* lua);
  static int redis_pcall(lua_State* lua);

  void install_redis();
  /// Pushes what the command answered. False when that is an error.
  bool invoke();
  /// Pushes the compiled script. False, with the message pushed, when it does not compile.
  bool push_function(const redis::Script& script);
  void set_list(const char* name, const std::vector<std::string>& values);

  Command command_;
  std::unique_ptr<lua_State, Close> lua_;
  /// References to compiled scripts, by source.
  std::map<std::string_view, int> compiled_;
};

}  // namespace holdfast::sim
