// The Port contract: what an engine may expect of its Port, proven on the model server of the
// simulator and on the real one alike, so that the model cannot drift.
//
// How a Port gets its suite:
// - a *bed* (this file) gives the Port of a fresh server, and what a test does behind the engine's
//   back: commands of a foreign client, damage, the passing of time. One bed is over the model, one
//   over a server that the test starts for itself;
// - every test is a TEST_P over both beds and knows neither;
// - a difference test runs random calls from a seed on both and demands equal answers.
// A difference is a defect of the model, unless the server contradicts its own documentation.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// For gtest: a reply as redis-cli would show it.
void PrintTo(const Reply& reply, std::ostream* out);

}  // namespace holdfast::redis

namespace holdfast::ports {

using redis::Reply;

/// Hears one channel while it lives.
class Listener {
 public:
  virtual ~Listener() = default;
  /// The next message. Empty when none came within a generous time.
  virtual std::string next() = 0;
};

class RedisBed {
 public:
  virtual ~RedisBed() = default;

  /// Runs a script to its end.
  virtual Result<Reply> run(const redis::ScriptCall& call) = 0;

  /// One command, as a client that is not ours sends it.
  virtual Reply command(const std::vector<std::string>& words) = 0;
  /// Puts a list under the key.
  virtual void plant_list(const std::string& key) = 0;
  virtual std::unique_ptr<Listener> listen(const std::string& channel) = 0;
  /// Lets a little time pass at the server.
  virtual void let_time_pass() = 0;
  /// The server ends, with all it had.
  virtual void stop() = 0;

  /// The same where the server must answer.
  Reply answer(const redis::ScriptCall& call);
};

/// Over the simulator's model.
std::unique_ptr<RedisBed> make_model_bed();
/// Over a redis-server. Beds share one, which each finds empty; only one may live at a time.
std::unique_ptr<RedisBed> make_server_bed();

enum class Bed : std::uint8_t { model, server };

class RedisPortTest : public testing::TestWithParam<Bed> {
 protected:
  Reply eval(const redis::Script& script,
             std::vector<std::string> keys,
             std::vector<std::string> args) {
    return bed_->answer({.script = &script, .keys = std::move(keys), .args = std::move(args)});
  }
  Reply command(const std::vector<std::string>& words) { return bed_->command(words); }
  /// The milliseconds that the key has left, as the server says.
  std::int64_t ttl_ms(const std::string& key) { return command({"PTTL", key}).integer; }
  /// Waits until the server has forgotten the key. Whether it did within a generous time.
  bool forgotten(const std::string& key);

  std::unique_ptr<RedisBed> bed_ = GetParam() == Bed::model ? make_model_bed() : make_server_bed();
  const Reply kNil;
  const Reply kOk = Reply::of_text("OK");
};

inline std::string bed_name(const testing::TestParamInfo<Bed>& info) {
  return info.param == Bed::model ? "Model" : "Server";
}

#define HOLDFAST_ON_BOTH_BEDS(suite)                                              \
  INSTANTIATE_TEST_SUITE_P(                                                       \
      Beds,                                                                       \
      suite,                                                                      \
      testing::Values(holdfast::ports::Bed::model, holdfast::ports::Bed::server), \
      holdfast::ports::bed_name)

}  // namespace holdfast::ports
