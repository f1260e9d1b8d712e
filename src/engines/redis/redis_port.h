// RedisPort: what the engine needs of one Redis server, which is to run a script.
//
// The driver implements it over a socket, the simulator over a model server.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/callback.h"
#include "base/completion.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::redis {

/// A Lua script. Source and name live for the whole program.
struct Script {
  std::string_view name;
  std::string_view source;
};

/// A server's answer.
struct Reply {
  enum class Kind : std::uint8_t { nil, integer, text, array, error };

  Kind kind{Kind::nil};
  std::int64_t integer{0};
  /// The text, or the message of an error such as "WRONGTYPE … (at 127.0.0.1:6379)".
  std::string text{};
  std::vector<Reply> items{};

  static Reply of_integer(std::int64_t value) { return {.kind = Kind::integer, .integer = value}; }
  static Reply of_text(std::string value) { return {.kind = Kind::text, .text = std::move(value)}; }
  static Reply of_array(std::vector<Reply> values) {
    return {.kind = Kind::array, .items = std::move(values)};
  }
  static Reply of_error(std::string message) {
    return {.kind = Kind::error, .text = std::move(message)};
  }

  friend bool operator==(const Reply&, const Reply&) = default;
};

/// One request: a script with its keys and arguments.
struct ScriptCall {
  const Script* script;
  std::vector<std::string> keys;
  std::vector<std::string> args;
};

/// Shared by everybody it is sent to and every repetition.
using SharedCall = std::shared_ptr<const ScriptCall>;

inline SharedCall share(ScriptCall call) {
  return std::make_shared<const ScriptCall>(std::move(call));
}

/// What to do with the answer to a request.
using OnAnswer = Callback<56, Result<Reply>>;

/// What a subscription brings.
struct Heard {
  enum class Kind : std::uint8_t {
    /// From now on messages are heard. Told again after every interruption: some may have been
    /// missed before.
    listening,
    message,
  };
  Kind kind{Kind::listening};
  std::string text{};
};
using OnHeard = std::function<void(const Heard&)>;

/// Thread safety: as Env; several calls may be under way at once.
class RedisPort {
 public:
  virtual ~RedisPort() = default;

  /// Runs the script at the server, atomically. The answer is handed over once, by `answer_by` or
  /// soon after, between tasks of the Env and never inside this call. What the server refused is an
  /// answer too: Reply::Kind::error. Something between may repeat the request, so that it runs
  /// again, even after the answer: scripts must bear that.
  ///
  /// unavailable: the request never left; it has not run and never will.
  /// unknown_outcome: it left and no answer came. It may have run, or may still run.
  virtual void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) = 0;

  /// Hears a channel until unsubscribe() or until the port goes. Calls back between tasks of the
  /// Env, never inside this call; interruptions are bridged, and told by `listening`.
  virtual void subscribe(std::string channel, OnHeard on_heard) = 0;
  virtual void unsubscribe(const std::string& channel) = 0;

  /// For who goes through all keys: one key for each server that has some of them, with which a
  /// script runs there. Empty: one server has them all.
  virtual std::vector<std::string> key_of_each_server() const { return {}; }

  /// When the server that has `key` took over from another, which may have lost the latest changes.
  /// min(): no other was seen.
  virtual TimePoint in_charge_since(std::string_view /*key*/) const { return TimePoint::min(); }

  /// Awaited, sends and waits for the answer. `call` outlives the await; it is not held, because
  /// g++ 12 destroys what an awaiting expression holds twice.
  auto eval(const SharedCall& call, TimePoint answer_by) {
    const auto start = [this, &call, answer_by](auto handler) {
      send(call, answer_by, OnAnswer{std::move(handler)});
    };
    return completion<Result<Reply>>(start);
  }
};

}  // namespace holdfast::redis
