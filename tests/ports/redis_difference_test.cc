// Random calls from a seed on model and server, which must answer alike.
//
// The model's clock is set to the time that the server used: the counter tells it where a token was
// made of it, and for all other calls any time near it will do, since every TTL is long or none.

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/decimal.h"
#include "engines/redis/redis_scripts.h"
#include "sim/redis/redis_model.h"
#include "tests/ports/redis_bed.h"
#include "tests/ports/redis_dice.h"

namespace holdfast::ports {
namespace {

constexpr std::uint64_t kSequences = 3000;
constexpr int kCallsPerSequence = 12;

/// What is left of a TTL may differ by what passed between the two.
bool alike(const Reply& model, const Reply& server) {
  constexpr std::int64_t kTtlMin = 50'000;
  constexpr std::int64_t kTtlMax = 4'000'000;
  constexpr std::int64_t kTolerance = 20'000;
  if (model.kind == Reply::Kind::integer && server.kind == Reply::Kind::integer &&
      model.integer >= kTtlMin && model.integer <= kTtlMax) {
    return std::abs(model.integer - server.integer) <= kTolerance;
  }
  if (model.kind != Reply::Kind::array || model.items.size() != server.items.size()) {
    return model == server;
  }
  return server.kind == Reply::Kind::array && std::ranges::equal(model.items, server.items, alike);
}

class RedisDifferenceTest : public testing::Test {
 protected:
  sim::WallTime server_time() {
    const Reply time = bed_->command({"TIME"});
    return std::chrono::seconds{std::stoll(time.items.at(0).text)} +
           sim::WallTime{std::stoll(time.items.at(1).text)};
  }

  /// The time at which the server ran the step, no sooner than `before`, where it left a trace.
  sim::WallTime time_used(const Step& step, sim::WallTime before) {
    constexpr sim::WallTime kLongestCall{60'000'000};
    if (step.script == nullptr) return before;
    const auto token = parse_decimal<std::int64_t>(bed_->command({"GET", "counter"}).text);
    if (!token || *token < before.count()) return before;
    return *token <= (before + kLongestCall).count() ? sim::WallTime{*token} : before;
  }

  Reply on_server(const Step& step) {
    if (step.script == nullptr) return bed_->command(step.words);
    return bed_->answer({.script = step.script, .keys = step.keys, .args = step.words});
  }

  Reply on_model(const Step& step, sim::WallTime now) {
    if (step.script == nullptr) return model_.command(step.words, now);
    return model_.eval({.script = step.script, .keys = step.keys, .args = step.words}, now);
  }

  void sequence(std::uint64_t seed) {
    RedisDice dice{seed};
    std::ostringstream so_far;
    bed_->command({"FLUSHALL"});
    model_.keyspace().clear();
    for (int call = 0; call < kCallsPerSequence; ++call) {
      const Step step = dice.step();
      const sim::WallTime before = server_time();
      const Reply server = on_server(step);
      const Reply model = on_model(step, time_used(step, before));
      so_far << "\n  " << step << " -> " << testing::PrintToString(server);
      ASSERT_TRUE(alike(model, server)) << "seed " << seed << ", the model says "
                                        << testing::PrintToString(model) << so_far.str();
    }
  }

  std::unique_ptr<RedisBed> bed_ = make_server_bed();
  sim::RedisModel model_;
};

TEST_F(RedisDifferenceTest, RandomCallsAreAnsweredAlike) {
  for (std::uint64_t seed = 0; seed < kSequences && !HasFatalFailure(); ++seed) sequence(seed);
}

TEST_F(RedisDifferenceTest, TheComparisonSeesADifference) {
  const Reply granted = Reply::of_array({Reply::of_integer(1), Reply::of_text("7")});
  EXPECT_TRUE(alike(granted, granted));
  EXPECT_FALSE(alike(granted, Reply::of_array({Reply::of_integer(1), Reply::of_text("8")})));
  EXPECT_FALSE(alike(granted, Reply::of_array({Reply::of_integer(1)})));
  EXPECT_FALSE(alike(Reply::of_integer(-1), Reply::of_integer(-2)));
  EXPECT_FALSE(alike(Reply::of_integer(100'000), Reply::of_integer(200'000)));
  EXPECT_FALSE(alike(Reply::of_text("x"), Reply::of_error("x")));
}

}  // namespace
}  // namespace holdfast::ports
