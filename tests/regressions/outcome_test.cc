// Defects of other libraries in what they answer, as docs/internals/peer_defects.md numbers them.

#include <algorithm>
#include <future>
#include <mutex>

#include "holdfast/mutex.h"
#include "tests/regressions/redis_bed.h"

namespace holdfast::regressions {
namespace {

using OutcomeRegression = RedisBed;

TEST_F(OutcomeRegression, D20_ALostReplyToAnAcquisitionIsSettledByAskingAgain) {
  Client client = connect_behind_proxy();
  proxy_.hold_replies();
  auto pending = std::async(std::launch::async, [&] { return client.acquire("x", {.ttl = 60s}); });
  ASSERT_TRUE(eventually([&] { return raw_.ask({"EXISTS", "hf:x"}) == "1"; }));
  const Token minted = client_.inspect("x")->holders.at(0).token;
  proxy_.heal();
  const auto lease = pending.get();
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(lease->token(), minted) << "the same grant, not a second one";
}

TEST_F(OutcomeRegression, Item14_ALostReplyToAReleaseIsNoError) {
  Client client = connect_behind_proxy();
  auto lease = client.acquire("x", {.ttl = 60s});
  ASSERT_TRUE(lease);
  proxy_.hold_replies();
  auto pending = std::async(std::launch::async, [&] { return lease->release(); });
  ASSERT_TRUE(eventually([&] { return raw_.ask({"EXISTS", "hf:x"}) == "0"; }));
  proxy_.heal();
  EXPECT_EQ(pending.get(), ReleaseOutcome::released);
}

TEST_F(OutcomeRegression, Item14_ASecondRequestOfAReleaseDoesNotReachTheNextHolder) {
  Client client = connect_behind_proxy();
  auto lease = client.acquire("x", {.ttl = 60s});
  ASSERT_TRUE(lease);
  proxy_.hold_replies();
  auto pending = std::async(std::launch::async, [&] { return lease->release(); });
  ASSERT_TRUE(eventually([&] { return raw_.ask({"EXISTS", "hf:x"}) == "0"; }));
  const auto next = client_.acquire("x");
  ASSERT_TRUE(next);
  proxy_.heal();
  pending.get();
  EXPECT_EQ(client_.inspect("x")->holders.at(0).token, next->token());
}

TEST_F(OutcomeRegression, Item16_ReleaseDoesNotDependOnTheRequestsCancellation) {
  std::stop_source stop;
  auto lease = client_.acquire("x", {}, stop.get_token());
  ASSERT_TRUE(lease);
  stop.request_stop();
  EXPECT_TRUE(lease->ensure_held());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(raw_.ask({"EXISTS", "hf:x"}), "0");
}

TEST_F(OutcomeRegression, Item17_ADestructorOutlivesItsServer) {
  Client client = *Client::connect("redis+unix://" + server_.socket() + "?timeout=300ms");
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  holdfast::mutex lock{client, "y"};
  const std::lock_guard guard{lock};
  server_.kill();
}

TEST_F(OutcomeRegression, Item17_AReleaseSaysThatTheLeaseHadEnded) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  ASSERT_EQ(raw_.ask({"DEL", "hf:x"}), "1");
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
}

TEST_F(OutcomeRegression, Item21_HeldIsToldFromBroken) {
  const std::string url = "redis+unix://" + server_.socket() + "?timeout=300ms";
  Client holder = *Client::connect(url);
  Client other = *Client::connect(url);
  const auto lease = holder.acquire("x", {.label = "importer"});
  ASSERT_TRUE(lease);
  const auto held = other.try_acquire("x");
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Errc::busy);
  ASSERT_TRUE(held.error().holder);
  EXPECT_EQ(held.error().holder->label, "importer");
  server_.kill();
  const auto broken = other.try_acquire("x");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Errc::unavailable);
  EXPECT_NE(broken.error().message.find(server_.socket()), std::string::npos)
      << broken.error().message;
}

TEST_F(OutcomeRegression, Item23_NamesLeaveNoKeys) {
  ASSERT_TRUE(client_.acquire("x"));
  const std::int64_t keys = raw_.number({"DBSIZE"});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(client_.acquire("n" + std::to_string(i)));
  EXPECT_EQ(raw_.number({"DBSIZE"}), keys);
}

TEST_F(OutcomeRegression, Item25_NamesLeaveNoSubscriptions) {
  Client other = *Client::connect("redis+unix://" + server_.socket());
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    auto lease = client_.acquire(name);
    ASSERT_TRUE(lease);
    auto waiting = std::async(std::launch::async, [&] { return other.acquire(name); });
    ASSERT_TRUE(eventually([&] { return client_.inspect(name)->waiters.size() == 1; }));
    lease->release();
    ASSERT_TRUE(waiting.get());
  }
  const std::string channels = raw_.ask({"PUBSUB", "CHANNELS"});
  EXPECT_LE(std::count(channels.begin(), channels.end(), '\n'), 3)
      << "one for each process, and that of forced releases";
}

TEST_F(OutcomeRegression, Item26_OneProcessHasNoRightToTheLeaseOfAnother) {
  const auto lease = client_.acquire("x");
  const auto mine = client_.acquire("y");
  ASSERT_TRUE(lease && mine);
  Client neighbour = *Client::connect("redis+unix://" + server_.socket());
  EXPECT_EQ(neighbour.release("x", mine->owner()).value(), ReleaseOutcome::already_lost);
  EXPECT_EQ(neighbour.renew("x", mine->owner(), 60s).error().code, Errc::lost);
  EXPECT_EQ(client_.inspect("x")->holders.at(0).token, lease->token());
}

}  // namespace
}  // namespace holdfast::regressions
