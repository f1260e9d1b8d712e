#include "core/session_observation.h"

#include <gtest/gtest.h>

#include <future>

#include "core/listeners.h"
#include "core/session_testing.h"
#include "runtime/asio_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::kPatience;

class SessionObservationTest : public ::testing::Test {
 protected:
  using Looked = Result<LockInfo>;

  std::future<Looked> next(std::stop_token stop = {}) {
    const auto promise = std::make_shared<std::promise<Looked>>();
    observation_->next(std::move(stop), [promise](Looked lock) { promise->set_value(lock); });
    return promise->get_future();
  }

  static Looked get(std::future<Looked> looked) {
    EXPECT_EQ(looked.wait_for(kPatience), std::future_status::ready);
    return looked.get();
  }

  std::shared_ptr<testing::FakeServer> server_{std::make_shared<testing::FakeServer>()};
  std::shared_ptr<SessionBackend> backend_ = testing::start(*runtime::AsioEnv::create(), server_);
  std::shared_ptr<LockObservation> observation_ = backend_->observe("x");
};

TEST_F(SessionObservationTest, TellsTheLockAtOnceAndThenWhenOthersHoldIt) {
  EXPECT_TRUE(get(next())->holders.empty());
  auto taken = next();
  const auto lease = backend_->acquire("x", {}, {});
  ASSERT_TRUE(lease);
  const auto held = get(std::move(taken));
  ASSERT_EQ(held->holders.size(), 1U);
  EXPECT_EQ(held->holders.front().token, (*lease)->token());
  auto free = next();
  (*lease)->release();
  EXPECT_TRUE(get(std::move(free))->holders.empty());
}

TEST_F(SessionObservationTest, AnotherTokenOfTheSameHolderIsNews) {
  ASSERT_TRUE(get(next()));
  const auto first = backend_->acquire("x", {}, {});
  ASSERT_TRUE(first && get(next()));
  (*first)->release();
  const auto second = backend_->acquire("x", {}, {});
  ASSERT_TRUE(second);
  Looked seen = get(next());
  if (seen && seen->holders.empty()) seen = get(next());
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_EQ(seen->holders.front().token, (*second)->token());
}

TEST_F(SessionObservationTest, AStopCancelsIt) {
  ASSERT_TRUE(get(next()));
  std::stop_source stop;
  auto waiting = next(stop.get_token());
  stop.request_stop();
  EXPECT_EQ(get(std::move(waiting)).error().code, Errc::cancelled);
}

TEST_F(SessionObservationTest, KeepsTheEngineAliveAndLetsItGo) {
  backend_.reset();
  EXPECT_TRUE(get(next())->holders.empty());
  observation_.reset();
  EXPECT_TRUE(
      testing::eventually([&] { return server_->destroyed_by.load() != std::thread::id{}; }));
}

TEST(ListenersTest, ThoseWhoListenHearOfTheirOwnLockAlone) {
  const auto listeners = std::make_shared<Listeners>();
  int heard_a = 0;
  int heard_b = 0;
  auto a = listeners->add("a", [&] { ++heard_a; });
  const auto b = listeners->add("b", [&] { ++heard_b; });
  listeners->tell("a");
  listeners->tell("c");
  EXPECT_EQ(heard_a, 1);
  EXPECT_EQ(heard_b, 0);
  listeners->tell_all();
  EXPECT_EQ(heard_a + heard_b, 3);
  a.reset();
  listeners->tell_all();
  EXPECT_EQ(heard_a, 2);
  EXPECT_EQ(heard_b, 2);
}

TEST(ListenersTest, OneMayEndAnotherWhileTheyAreTold) {
  const auto listeners = std::make_shared<Listeners>();
  int heard = 0;
  std::unique_ptr<Listeners::Place> second;
  const auto first = listeners->add("a", [&] {
    ++heard;
    second.reset();
  });
  second = listeners->add("a", [&] { ++heard; });
  listeners->tell("a");
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace holdfast::core
