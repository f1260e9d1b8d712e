// Holdfast and locks of clients nobody here wrote exclude each other, both ways, over release and
// expiry. redis-py, unless HOLDFAST_FOREIGN_CLIENT is the command line of another.

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

#include "holdfast/client.h"
#include "tests/interop/foreign_client.h"
#include "tests/ports/redis_process.h"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

// Far longer than anything here takes; a test that needs it fails.
constexpr Millis kPatience{30'000};

std::vector<std::string> foreign_command(const std::string& socket) {
  const char* const told = std::getenv("HOLDFAST_FOREIGN_CLIENT");
  std::istringstream words{told != nullptr ? told : HOLDFAST_PYTHON " " HOLDFAST_REDIS_PY};
  std::vector<std::string> command{std::istream_iterator<std::string>{words}, {}};
  command.push_back(socket);
  return command;
}

class ForeignLockTest : public testing::Test {
 protected:
  ports::RedisProcess server_;
  Client client_ = *Client::connect("redis+unix://" + server_.socket());
  ForeignClient foreign_{foreign_command(server_.socket())};
};

TEST_F(ForeignLockTest, TheirLockKeepsUsOutUntilTheyReleaseIt) {
  ASSERT_EQ(foreign_.ask("acquire hf:x 60 0"), "acquired");
  const auto refused = client_.try_acquire("x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_TRUE(refused.error().holder->foreign);
  EXPECT_TRUE(client_.inspect("x")->holders.at(0).foreign);
  auto waiting = std::async(std::launch::async, [&] { return client_.acquire("x"); });
  while (client_.inspect("x")->waiters.empty()) std::this_thread::yield();
  EXPECT_EQ(foreign_.ask("release hf:x"), "released");
  const auto lease = waiting.get();
  ASSERT_TRUE(lease);
  EXPECT_GT(lease->token(), Token{0});
}

TEST_F(ForeignLockTest, TheirLockKeepsUsOutUntilItExpires) {
  ASSERT_EQ(foreign_.ask("acquire hf:x 0.3 0"), "acquired");
  const TimePoint taken = BootClock::now();
  EXPECT_EQ(client_.try_acquire("x").error().code, Errc::busy);
  const auto lease = client_.acquire("x", {.wait = kPatience});
  ASSERT_TRUE(lease);
  EXPECT_GE(BootClock::now() - taken, 250ms);
  EXPECT_EQ(foreign_.ask("extend hf:x 60"), "lost");
  EXPECT_EQ(foreign_.ask("release hf:x"), "lost");
  EXPECT_TRUE(lease->ensure_held());
}

TEST_F(ForeignLockTest, OurLockKeepsThemOutUntilWeReleaseIt) {
  auto lease = client_.acquire("x", {.ttl = 500ms});
  ASSERT_TRUE(lease);
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 1.5"), "busy") << "it is renewed all the time";
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 0"), "acquired");
}

TEST_F(ForeignLockTest, OurLockKeepsThemOutUntilItExpires) {
  auto lease = client_.acquire("x", {.ttl = 300ms, .kind = LeaseKind::detached});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->detach());
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 0"), "busy");
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 30"), "acquired");
  EXPECT_EQ(client_.release("x", lease->owner()).value(), ReleaseOutcome::already_lost);
  EXPECT_EQ(foreign_.ask("release hf:x"), "released");
}

TEST_F(ForeignLockTest, OurReadersKeepThemOutToTheLast) {
  auto first = client_.acquire("x", {.mode = Mode::shared, .ttl = 500ms});
  auto second = client_.acquire("x", {.mode = Mode::shared, .ttl = 500ms});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->release(), ReleaseOutcome::released);
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 1.5"), "busy") << "it is renewed all the time";
  EXPECT_EQ(second->release(), ReleaseOutcome::released);
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 0"), "acquired");
}

TEST_F(ForeignLockTest, TheirLockKeepsOurReadersAndPermitsOut) {
  ASSERT_EQ(foreign_.ask("acquire hf:x 60 0"), "acquired");
  EXPECT_EQ(client_.try_acquire("x", {.mode = Mode::shared}).error().code, Errc::busy);
  EXPECT_EQ(client_.try_acquire("x", {.mode = Mode::permit, .permits = 2}).error().code,
            Errc::busy);
  auto waiting =
      std::async(std::launch::async, [&] { return client_.acquire("x", {.mode = Mode::shared}); });
  while (client_.inspect("x")->waiters.empty()) std::this_thread::yield();
  EXPECT_EQ(foreign_.ask("release hf:x"), "released");
  EXPECT_TRUE(waiting.get());
}

TEST_F(ForeignLockTest, TheyDoNotOvertakeOurLeaseWhileItIsHandedOver) {
  auto first = client_.acquire("x");
  ASSERT_TRUE(first);
  auto waiting = std::async(std::launch::async, [&] { return client_.acquire("x"); });
  while (client_.inspect("x")->waiters.empty()) std::this_thread::yield();
  EXPECT_EQ(first->release(), ReleaseOutcome::released);
  EXPECT_EQ(foreign_.ask("acquire hf:x 60 0"), "busy");
  EXPECT_TRUE(waiting.get());
}

}  // namespace
}  // namespace holdfast::interop
