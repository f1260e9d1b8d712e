// LuaRunner: runs the scripts we ship as Redis 7.0 does, under Lua 5.1, with redis.call given by
// us.
//
// As in Redis, only the base, table, string and math libraries are there, globals can be neither
// made nor missed silently, values are converted by Redis' rules, and errors have Redis' words.
// Servers of one thread share a runner: a script that only makes locals leaves nothing behind.
//
// Thread safety: none; each thread has its own.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/redis_port.h"
#include "sim/redis/lua_arena.h"
#include "sim/redis/redis_answer.h"

struct lua_State;

namespace holdfast::sim {

class LuaRunner {
 public:
  static LuaRunner& of_this_thread();

  LuaRunner();
  LuaRunner(const LuaRunner&) = delete;
  LuaRunner& operator=(const LuaRunner&) = delete;

  /// The script's answer; an error reply when it does not compile or raises an error. Its commands
  /// go to `commands`, which must not run scripts here meanwhile.
  redis::Reply run(const redis::ScriptCall& call, Commands& commands);

  /// How much memory Lua has, garbage included.
  std::size_t memory_kb() const;

 private:
  struct Close {
    void operator()(lua_State* lua) const;
  };
  /// KEYS or ARGV. Only what differs from the run before is written.
  struct List {
    int reference{0};
    std::vector<std::string> values{};
  };
  struct Compiled {
    std::string_view source;
    int reference{0};
  };

  static int redis_call(lua_State* lua);
  static int redis_pcall(lua_State* lua);
  static int locate_error(lua_State* lua);

  void install_redis();
  void add_function(const char* name, int (*function)(lua_State*));
  List make_list(const char* name);
  void fill(List& list, const std::vector<std::string>& values);
  /// Pushes what the command answered. False when that is an error.
  bool invoke();
  /// Pushes the compiled script. False, with the message pushed, when it does not compile.
  bool push_function(const redis::Script& script);
  redis::Reply failure(const redis::Script& script);
  void collect_garbage();

  LuaArena arena_;
  std::unique_ptr<lua_State, Close> lua_;
  Commands* commands_{nullptr};
  std::vector<Compiled> compiled_;
  std::vector<std::string_view> words_;
  List keys_;
  List args_;
  int ok_{0};
  int handler_{0};
  /// Where the last error was raised, such as "@user_script:3".
  std::string error_place_;
};

}  // namespace holdfast::sim
