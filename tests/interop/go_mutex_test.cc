// Holdfast and Go's concurrency.Mutex exclude each other, both ways. The client is what
// HOLDFAST_FOREIGN_CLIENT names (with_client).

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <thread>

#include "holdfast/client.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/interop/foreign_client.h"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

// Far longer than anything here takes; a test that needs it fails.
constexpr Millis kPatience{30'000};

std::vector<std::string> go_command(const std::string& endpoint) {
  const char* const told = std::getenv("HOLDFAST_FOREIGN_CLIENT");
  if (told == nullptr) throw std::runtime_error{"HOLDFAST_FOREIGN_CLIENT names no client"};
  return {told, endpoint};
}

class GoMutexTest : public testing::Test {
 protected:
  void until_waiting(std::size_t count) {
    const TimePoint limit = BootClock::now() + kPatience;
    while (client_.inspect("x")->waiters.size() < count) {
      ASSERT_LT(BootClock::now(), limit);
      std::this_thread::yield();
    }
  }

  etcd::EtcdCluster cluster_;
  Client client_ = *Client::connect("etcd://" + cluster_.endpoints());
  ForeignClient foreign_{go_command(cluster_.node(0).endpoint())};
};

TEST_F(GoMutexTest, TheirLockKeepsUsOutUntilTheyReleaseIt) {
  ASSERT_EQ(foreign_.ask("acquire hf/x 60 0"), "acquired");
  const auto refused = client_.try_acquire("x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(client_.inspect("x")->holders.at(0).foreign);
  auto waiting = std::async(std::launch::async, [&] { return client_.acquire("x"); });
  until_waiting(1);
  EXPECT_EQ(foreign_.ask("release hf/x"), "released");
  EXPECT_TRUE(waiting.get());
}

TEST_F(GoMutexTest, OurLockKeepsThemOutUntilWeReleaseIt) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(foreign_.ask("acquire hf/x 60 0"), "busy");
  auto waiting = std::async(std::launch::async, [&] { return foreign_.ask("acquire hf/x 60 30"); });
  until_waiting(1);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(waiting.get(), "acquired");
  EXPECT_EQ(client_.try_acquire("x").error().code, Errc::busy);
}

TEST_F(GoMutexTest, BothStandInOneQueue) {
  auto first = client_.acquire("x");
  ASSERT_TRUE(first);
  auto second = std::async(std::launch::async, [&] { return foreign_.ask("acquire hf/x 60 30"); });
  until_waiting(1);
  Client another = *Client::connect("etcd://" + cluster_.endpoints());
  auto third = std::async(std::launch::async, [&] { return another.acquire("x"); });
  until_waiting(2);
  const Token token = first->token();
  EXPECT_EQ(first->release(), ReleaseOutcome::released);
  EXPECT_EQ(second.get(), "acquired");
  EXPECT_EQ(third.wait_for(300ms), std::future_status::timeout);
  EXPECT_EQ(foreign_.ask("release hf/x"), "released");
  const auto last = third.get();
  ASSERT_TRUE(last);
  EXPECT_GT(last->token(), token);
}

TEST_F(GoMutexTest, OurReadersKeepThemOutToTheLast) {
  auto one = client_.acquire("x", {.mode = Mode::shared});
  auto other = client_.acquire("x", {.mode = Mode::shared});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->release(), ReleaseOutcome::released);
  EXPECT_EQ(foreign_.ask("acquire hf/x 60 0"), "busy");
  EXPECT_EQ(other->release(), ReleaseOutcome::released);
  EXPECT_EQ(foreign_.ask("acquire hf/x 60 0"), "acquired");
}

}  // namespace
}  // namespace holdfast::interop
