// Requests as the bytes of the Redis protocol.
//
// Thread safety: append_command() any thread; ScriptBook none.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

void append_command(std::string& out, std::span<const std::string> words);
void append_command(std::string& out, std::initializer_list<std::string_view> words);

/// EVAL, with the script's text: whatever the server has forgotten, it runs and is known again.
void append_eval(std::string& out, const ScriptCall& call);

/// The hashes by which a server knows the scripts it has seen.
class ScriptBook {
 public:
  /// EVAL the first time since forget(), EVALSHA from then on. A server that does not know a script
  /// would answer requests that came later first, so that it is not asked by the hash until it has
  /// had the text from us.
  void append(std::string& out, const ScriptCall& call);

  /// For a new connection, perhaps to another server.
  void forget() { said_.clear(); }

  /// EVALSHA: answered by a NOSCRIPT error when the server does not know the script.
  void append_evalsha(std::string& out, const ScriptCall& call);

 private:
  const std::string& beginning_of(const Script& script);

  /// The encoded words `EVALSHA <hash>`, by the address of the script's text.
  std::unordered_map<const char*, std::string> beginnings_;
  /// The texts sent on this connection, by their addresses.
  std::unordered_set<const char*> said_;
};

/// Whether the server does not know a script by its hash; it has not run.
inline bool is_noscript(const Reply& reply) {
  return reply.kind == Reply::Kind::error && reply.text.starts_with("NOSCRIPT");
}

}  // namespace holdfast::redis
