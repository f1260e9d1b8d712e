#include "engines/redis/driver/resp_writer.h"

#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "base/assert.h"
#include "base/hex.h"

namespace holdfast::redis {
namespace {

void append_number(std::string& out, std::size_t number) {
  std::array<char, std::numeric_limits<std::size_t>::digits10 + 1> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_head(std::string& out, char sign, std::size_t number) {
  out.push_back(sign);
  append_number(out, number);
  out.append("\r\n");
}

/// How words of up to 99 bytes begin, which most have.
using Heads = std::array<std::array<char, 5>, 100>;

constexpr Heads kHeads = [] {
  Heads heads{};
  for (std::size_t size = 0; size < heads.size(); ++size) {
    const auto tens = static_cast<char>('0' + size / 10);
    const auto ones = static_cast<char>('0' + size % 10);
    heads[size] = size < 10 ? std::array{'$', ones, '\r', '\n', '\0'}
                            : std::array{'$', tens, ones, '\r', '\n'};
  }
  return heads;
}();

void append_word(std::string& out, std::string_view word) {
  if (word.size() < kHeads.size()) {
    out.append(kHeads[word.size()].data(), word.size() < 10 ? 4 : 5);
  } else {
    append_head(out, '$', word.size());
  }
  out.append(word);
  out.append("\r\n");
}

void append_keys_and_args(std::string& out, const ScriptCall& call) {
  append_word(out, std::to_string(call.keys.size()));
  for (const std::string& key : call.keys) append_word(out, key);
  for (const std::string& arg : call.args) append_word(out, arg);
}

/// The command, the script or its hash, and the number of keys come before keys and arguments.
std::size_t words_of(const ScriptCall& call) { return 3 + call.keys.size() + call.args.size(); }

std::string sha1_of(std::string_view text) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  HOLDFAST_ASSERT(done == 1);
  return to_hex({digest.data(), size});
}

}  // namespace

void append_command(std::string& out, std::span<const std::string> words) {
  append_head(out, '*', words.size());
  for (const std::string& word : words) append_word(out, word);
}

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  append_head(out, '*', words.size());
  for (const std::string_view word : words) append_word(out, word);
}

void append_eval(std::string& out, const ScriptCall& call) {
  append_head(out, '*', words_of(call));
  append_word(out, "EVAL");
  append_word(out, call.script->source);
  append_keys_and_args(out, call);
}

void ScriptBook::append(std::string& out, const ScriptCall& call) {
  const bool is_first = said_.insert(call.script->source.data()).second;
  is_first ? append_eval(out, call) : append_evalsha(out, call);
}

void ScriptBook::append_evalsha(std::string& out, const ScriptCall& call) {
  append_head(out, '*', words_of(call));
  out.append(beginning_of(*call.script));
  append_keys_and_args(out, call);
}

const std::string& ScriptBook::beginning_of(const Script& script) {
  std::string& beginning = beginnings_[script.source.data()];
  if (beginning.empty()) {
    append_word(beginning, "EVALSHA");
    append_word(beginning, sha1_of(script.source));
  }
  return beginning;
}

}  // namespace holdfast::redis
