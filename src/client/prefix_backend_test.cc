#include "client/prefix_backend.h"

#include <gtest/gtest.h>

#include <optional>

#include "client/fake_backend.h"

namespace holdfast {
namespace {

using testing::FakeBackend;

struct PrefixBackendTest : ::testing::Test {
  std::shared_ptr<FakeBackend> engine = std::make_shared<FakeBackend>();
  Client bare{engine};
  Client client{with_prefix(engine, "team a/")};
};

TEST_F(PrefixBackendTest, NamesAreStoredWithThePrefixAndShownWithoutIt) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->name(), "x");
  EXPECT_EQ(engine->last()->name(), "team a/x");
  EXPECT_EQ(bare.try_acquire("team a/x").error().code, Errc::busy);
  EXPECT_TRUE(bare.try_acquire("x"));
  EXPECT_EQ(client.inspect("x")->name, "x");
  EXPECT_EQ(client.inspect("x")->holders.size(), 1u);
}

TEST_F(PrefixBackendTest, ListAndWatchSeeOnlyWhatBeginsWithThePrefix) {
  const auto inside = client.acquire("x");
  const auto outside = bare.acquire("y");
  const auto prefix_itself = bare.acquire("team a/");
  ASSERT_TRUE(inside && outside && prefix_itself);
  const auto locks = client.list();
  ASSERT_EQ(locks->size(), 1u);
  EXPECT_EQ(locks->front().name, "x");
  EXPECT_TRUE(client.list("z")->empty());

  std::vector<std::string> seen;
  ASSERT_TRUE(client.watch("", [&](const LockEvent& event) { seen.push_back(event.name); }, {}));
  EXPECT_EQ(seen, std::vector<std::string>{"x"});
}

TEST_F(PrefixBackendTest, PrefixIsPartOfTheDomainAndOfTheEngine) {
  EXPECT_EQ(client.engine(), "fake:?prefix=team%20a/");
  EXPECT_EQ(client.domain(), "fake:1?prefix=team%20a/");
  const auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_TRUE(client.check_sequencer(lease->sequencer())->stands);
  EXPECT_FALSE(bare.check_sequencer(lease->sequencer())->stands);
}

TEST_F(PrefixBackendTest, LimitCountsThePrefix) {
  EXPECT_TRUE(client.acquire(std::string(505, 'n')));
  const int calls = engine->calls();
  const std::string too_long(506, 'n');
  const Owner owner{Owner::Bytes{}};
  EXPECT_EQ(client.acquire(too_long).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.inspect(too_long).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.release(too_long, owner).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.renew(too_long, owner, Millis{1000}).error().code, Errc::invalid_argument);
  EXPECT_EQ(client.break_lock(too_long, "").error().code, Errc::invalid_argument);
  std::optional<Errc> answer;
  client.async_acquire(too_long, {}, {}, [&](auto result) { answer = result.error().code; });
  EXPECT_EQ(answer, Errc::invalid_argument);
  EXPECT_EQ(engine->calls(), calls);
}

TEST_F(PrefixBackendTest, LeaseBehavesAsTheEnginesOwn) {
  std::optional<Lease> lease;
  client.async_acquire("x", {}, {}, [&](auto result) { lease = std::move(*result); });
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->name(), "x");
  EXPECT_EQ(lease->token(), engine->last()->token());
  EXPECT_TRUE(lease->ensure_held());
  EXPECT_TRUE(lease->renew());
  ASSERT_TRUE(client.break_lock("x", "test"));
  EXPECT_EQ(lease->state(), LeaseState::lost);
  EXPECT_EQ(lease->loss_reason(), LossReason::broken);
  EXPECT_TRUE(lease->stop_token().stop_requested());
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
}

}  // namespace
}  // namespace holdfast
