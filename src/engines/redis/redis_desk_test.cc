#include "engines/redis/redis_desk.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "sim/world/sim_env.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

/// Answers as told, and without an answer when it was told nothing.
class FakePort final : public RedisPort {
 public:
  explicit FakePort(Env& env) : env_{env} {}

  void send(SharedCall, TimePoint, OnAnswer on_answer) override {
    Result<Reply> answer = Unexpected{Error{Errc::unknown_outcome, "no answer"}};
    if (!answers.empty()) {
      if (answers.front()) answer = *answers.front();
      answers.pop_front();
    }
    const auto later = std::make_shared<OnAnswer>(std::move(on_answer));
    env_.post([later, answer] { (*later)(answer); });
  }
  void subscribe(std::string, OnHeard) override {}
  void unsubscribe(const std::string&) override {}

  std::deque<std::optional<Reply>> answers;

 private:
  Env& env_;
};

class RedisDeskTest : public testing::Test {
 protected:
  template <class T>
  static Task<void> put(Task<T> task, std::optional<T>& to) {
    T value = co_await std::move(task);
    to = std::move(value);
  }
  template <class T>
  T wait_for(Task<T> task) {
    std::optional<T> value;
    env_.spawn(put(std::move(task), value));
    scheduler_.advance(1min);
    return *std::move(value);
  }
  TimePoint soon() const { return env_.now() + 2s; }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  std::shared_ptr<FakePort> port_{std::make_shared<FakePort>(env_)};
  std::shared_ptr<RedisEngine> engine_{
      std::make_shared<RedisEngine>(env_, port_, Settings{.timeout = 1s})};
  std::shared_ptr<RedisDesk> desk_{std::make_shared<RedisDesk>(env_, port_, engine_, Keys{"hf:"})};
  const LockName name_{"ledger"};
  const Owner owner_ = env_.fresh_owner();
  const Reply kRemoved = Reply::of_integer(1);
  const Reply kAbsent = Reply::of_integer(0);
};

TEST_F(RedisDeskTest, ALookWithoutAnAnswerChangedNothing) {
  EXPECT_EQ(wait_for(desk_->inspect(name_, soon())).error().code, Errc::unavailable);
  EXPECT_EQ(wait_for(desk_->list("", soon())).error().code, Errc::unavailable);
}

TEST_F(RedisDeskTest, AnActWithoutAnAnswerMayHaveChangedSomething) {
  EXPECT_EQ(wait_for(desk_->break_lock(name_, "test", soon())).error().code, Errc::unknown_outcome);
  EXPECT_EQ(wait_for(desk_->extend(name_, owner_, 1s, soon())).error().code, Errc::unknown_outcome);
}

TEST_F(RedisDeskTest, AReleaseByOwnerIsAsTheServerSays) {
  port_->answers = {kRemoved};
  EXPECT_EQ(wait_for(desk_->release(name_, owner_, soon())).value(), ReleaseOutcome::released);
  port_->answers = {kAbsent};
  EXPECT_EQ(wait_for(desk_->release(name_, owner_, soon())).value(), ReleaseOutcome::already_lost);
}

// It may have been removed by the first request, or have ended before it.
TEST_F(RedisDeskTest, AReleaseByOwnerAfterALostAnswerIsUnknown) {
  port_->answers = {std::nullopt, kAbsent};
  EXPECT_EQ(wait_for(desk_->release(name_, owner_, soon())).value(), ReleaseOutcome::unknown);
  port_->answers = {std::nullopt, kRemoved};
  EXPECT_EQ(wait_for(desk_->release(name_, owner_, soon())).value(), ReleaseOutcome::released);
}

TEST_F(RedisDeskTest, AReleaseOfALeaseThatStandsIsKnownInSpiteOfALostAnswer) {
  const core::HeldLease lease{.name = name_, .owner = owner_, .token = Token{1}};
  const TimePoint valid_until = env_.now() + 10min;
  port_->answers = {std::nullopt, kAbsent};
  EXPECT_EQ(wait_for(engine_->release(lease, valid_until, soon())), ReleaseOutcome::released);
  port_->answers = {std::nullopt, kAbsent};
  EXPECT_EQ(wait_for(engine_->release(lease, env_.now(), soon())), ReleaseOutcome::unknown);
}

}  // namespace
}  // namespace holdfast::redis
