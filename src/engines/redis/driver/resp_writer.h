// Requests as the bytes of the Redis protocol.
//
// Thread safety: append_command() any thread; ScriptBook none.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

void append_command(std::string& out, std::span<const std::string> words);
void append_command(std::string& out, std::initializer_list<std::string_view> words);

/// EVAL, with the script's text: whatever the server has forgotten, it runs and is known again.
void append_eval(std::string& out, const ScriptCall& call);

/// The hashes by which a server knows the scripts it has seen.
class ScriptBook {
 public:
  /// EVALSHA: answered by a NOSCRIPT error when the server does not know the script.
  void append_evalsha(std::string& out, const ScriptCall& call);

 private:
  const std::string& beginning_of(const Script& script);

  /// The encoded words `EVALSHA <hash>`, by the address of the script's text.
  std::unordered_map<const char*, std::string> beginnings_;
};

/// Whether the server does not know a script by its hash; it has not run.
inline bool is_noscript(const Reply& reply) {
  return reply.kind == Reply::Kind::error && reply.text.starts_with("NOSCRIPT");
}

}  // namespace holdfast::redis
