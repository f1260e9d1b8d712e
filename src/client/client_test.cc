#include "holdfast/client.h"

#include <gtest/gtest.h>

#include <optional>

#include "client/fake_backend.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::FakeBackend;

struct ClientTest : ::testing::Test {
  std::shared_ptr<FakeBackend> engine = std::make_shared<FakeBackend>();
  Client client{engine};
};

TEST_F(ClientTest, BadArgumentsAreRefusedBeforeTheEngineSeesThem) {
  const std::string long_name(513, 'n');
  const Owner owner{Owner::Bytes{}};
  std::optional<Errc> called_back;

  EXPECT_EQ(client.acquire("").error().code, Errc::invalid_argument);
  EXPECT_EQ(client.acquire("x", {.ttl = 99ms}).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.try_acquire(long_name).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.renew("x", owner, 0ms).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.renew(long_name, owner, 1s).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.release("a\nb", owner).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.inspect(long_name).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.break_lock("", "why").error().code, Errc::invalid_argument);
  EXPECT_EQ(client.break_lock("x", std::string(4097, 'w')).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.watch("", {}, {}).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.check_sequencer("nonsense").error().code, Errc::invalid_argument);
  client.async_acquire("", {}, {}, [&](auto result) { called_back = result.error().code; });
  EXPECT_EQ(called_back, Errc::invalid_argument);

  EXPECT_EQ(engine->calls(), 0);
}

TEST_F(ClientTest, TryAcquireNeverWaitsAndNamesTheHolder) {
  const auto held = client.acquire("x");
  ASSERT_TRUE(held);
  const auto refused = client.try_acquire("x", {.wait = kForever});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->owner_fp, held->owner().fingerprint());
}

TEST_F(ClientTest, EngineErrorsArePassedOn) {
  engine->fail_with(Errc::no_space);
  EXPECT_EQ(client.acquire("x").error().code, Errc::no_space);
}

TEST_F(ClientTest, AsyncAcquireDeliversALease) {
  std::optional<Lease> lease;
  client.async_acquire("x", {}, {}, [&](auto result) { lease = std::move(*result); });
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->name(), "x");
  std::optional<Errc> refused;
  client.async_acquire("x", {.wait = 0ms}, {}, [&](auto result) { refused = result.error().code; });
  EXPECT_EQ(refused, Errc::busy);
}

TEST_F(ClientTest, AsyncAcquireCanBeCancelled) {
  const auto held = client.acquire("x");
  ASSERT_TRUE(held);
  std::stop_source stop;
  std::optional<Errc> answer;
  client.async_acquire(
      "x", {}, stop.get_token(), [&](auto result) { answer = result.error().code; });
  EXPECT_FALSE(answer);
  stop.request_stop();
  EXPECT_EQ(answer, Errc::cancelled);
}

TEST_F(ClientTest, SequencerStandsUntilTheLeaseEnds) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  const std::string sequencer = lease->sequencer();
  EXPECT_TRUE(client.check_sequencer(sequencer)->stands);

  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_FALSE(client.check_sequencer(sequencer)->stands);
  EXPECT_EQ(client.check_sequencer(sequencer)->reason, "nobody holds the lock");

  const auto next = client.acquire("x");
  ASSERT_TRUE(next);
  EXPECT_FALSE(client.check_sequencer(sequencer)->stands);
  EXPECT_NE(client.check_sequencer(sequencer)->reason.find("token 2"), std::string::npos);
}

TEST_F(ClientTest, SequencerOfAnotherEngineDoesNotStand) {
  const auto status = client.check_sequencer("hf1:exclusive:1:0011223344556677:other:x");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_FALSE(status->stands);
  EXPECT_NE(status->reason.find("another engine"), std::string::npos);
}

}  // namespace
}  // namespace holdfast
