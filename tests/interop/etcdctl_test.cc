// Holdfast and etcd's own `etcdctl lock` exclude each other, both ways: uncontended, queued, when
// either side is killed, and over expiry.

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/interop/etcdctl_lock.h"
#include "tests/interop/our_holder.h"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

// Far longer than anything here takes; a test that needs it fails.
constexpr Millis kPatience{30'000};
/// Somebody who is to get nothing has had the chance: etcdctl asks at once.
constexpr Millis kGlance{300};

/// One for all tests: each has its own names.
etcd::EtcdCluster& cluster() {
  static etcd::EtcdCluster only;
  return only;
}

Client connect(const std::string& parameters = "") {
  auto client = Client::connect("etcd://" + cluster().endpoints() + parameters);
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

class EtcdctlTest : public testing::Test {
 protected:
  static EtcdctlLock theirs(const std::string& name, int ttl = 60) {
    return EtcdctlLock{cluster().node(0).endpoint(), name, ttl};
  }

  std::future<Result<Lease, AcquireError>> wait_for(const std::string& name,
                                                    AcquireOptions options = {}) {
    return std::async(std::launch::async,
                      [this, name, options] { return client_.acquire(name, options); });
  }

  void until_waiting(const std::string& name, std::size_t count) {
    const TimePoint limit = BootClock::now() + kPatience;
    while (client_.inspect(name)->waiters.size() < count) {
      ASSERT_LT(BootClock::now(), limit);
      std::this_thread::yield();
    }
  }

  Client client_ = connect();
};

TEST_F(EtcdctlTest, TheirLockKeepsUsOutUntilTheyReleaseIt) {
  EtcdctlLock lock = theirs("hf/theirs");
  ASSERT_TRUE(lock.key(kPatience).starts_with("hf/theirs/"));
  const auto refused = client_.try_acquire("theirs");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_TRUE(refused.error().holder->foreign);
  EXPECT_TRUE(client_.inspect("theirs")->holders.at(0).foreign);
  auto waiting = wait_for("theirs");
  until_waiting("theirs", 1);
  lock.release();
  const auto lease = waiting.get();
  ASSERT_TRUE(lease) << lease.error().message;
}

TEST_F(EtcdctlTest, OurLockKeepsThemOutUntilWeReleaseIt) {
  auto lease = client_.acquire("ours");
  ASSERT_TRUE(lease);
  EtcdctlLock lock = theirs("hf/ours");
  until_waiting("ours", 1);
  EXPECT_TRUE(client_.inspect("ours")->waiters.at(0).foreign);
  EXPECT_EQ(lock.key(kGlance), "");
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_TRUE(lock.key(kPatience).starts_with("hf/ours/"));
}

TEST_F(EtcdctlTest, BothStandInOneQueue) {
  auto lease = client_.acquire("queue");
  ASSERT_TRUE(lease);
  EtcdctlLock lock = theirs("hf/queue");
  until_waiting("queue", 1);
  Client another = connect();
  auto last = std::async(std::launch::async, [&] { return another.acquire("queue"); });
  until_waiting("queue", 2);
  const Token first = lease->token();
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_NE(lock.key(kPatience), "");
  EXPECT_EQ(last.wait_for(kGlance), std::future_status::timeout);
  lock.release();
  const auto next = last.get();
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), first);
}

TEST_F(EtcdctlTest, TheirsThatWasKilledIsHandedOnWhenItsLeaseEnds) {
  EtcdctlLock lock = theirs("hf/killed", 2);
  ASSERT_NE(lock.key(kPatience), "");
  auto waiting = wait_for("killed", {.wait = kPatience});
  until_waiting("killed", 1);
  lock.kill();
  EXPECT_TRUE(waiting.get());
}

TEST_F(EtcdctlTest, OneOfThemThatWasKilledInTheQueueIsPassedOver) {
  auto lease = client_.acquire("gap");
  ASSERT_TRUE(lease);
  EtcdctlLock lock = theirs("hf/gap", 2);
  until_waiting("gap", 1);
  Client another = connect();
  auto last = std::async(std::launch::async, [&] { return another.acquire("gap"); });
  until_waiting("gap", 2);
  lock.kill();
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_TRUE(last.get());
}

TEST_F(EtcdctlTest, OneOfOursThatWasKilledInTheQueueIsPassedOver) {
  auto lease = client_.acquire("ourgap");
  ASSERT_TRUE(lease);
  OurHolder waiter{"etcd://" + cluster().endpoints(), "ourgap", OurHolder::Until::started};
  until_waiting("ourgap", 1);
  EtcdctlLock lock = theirs("hf/ourgap");
  until_waiting("ourgap", 2);
  waiter.kill();
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_NE(lock.key(kPatience), "");
}

TEST_F(EtcdctlTest, OursThatWasKilledIsHandedOnWhenItsLeaseEnds) {
  OurHolder holder{"etcd://" + cluster().endpoints(), "orphan"};
  EtcdctlLock lock = theirs("hf/orphan");
  until_waiting("orphan", 1);
  EXPECT_EQ(lock.key(kGlance), "");
  holder.kill();
  EXPECT_NE(lock.key(kPatience), "");
}

TEST_F(EtcdctlTest, OurLockKeepsThemOutUntilItExpires) {
  auto lease = client_.acquire("expiring", {.ttl = 2s, .kind = LeaseKind::detached});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->detach());
  EtcdctlLock lock = theirs("hf/expiring");
  EXPECT_EQ(lock.key(kGlance), "");
  EXPECT_NE(lock.key(kPatience), "");
  EXPECT_EQ(client_.release("expiring", lease->owner()).value(), ReleaseOutcome::already_lost);
}

TEST_F(EtcdctlTest, OurReadersKeepThemOutToTheLast) {
  auto first = client_.acquire("read", {.mode = Mode::shared});
  auto second = client_.acquire("read", {.mode = Mode::shared});
  ASSERT_TRUE(first && second);
  EtcdctlLock lock = theirs("hf/read");
  until_waiting("read", 1);
  EXPECT_EQ(first->release(), ReleaseOutcome::released);
  EXPECT_EQ(second->release(), ReleaseOutcome::released);
  EXPECT_NE(lock.key(kPatience), "");
}

TEST_F(EtcdctlTest, TheirLockKeepsOurReadersAndPermitsOut) {
  EtcdctlLock lock = theirs("hf/modes");
  ASSERT_NE(lock.key(kPatience), "");
  EXPECT_EQ(client_.try_acquire("modes", {.mode = Mode::shared}).error().code, Errc::busy);
  EXPECT_EQ(client_.try_acquire("modes", {.mode = Mode::permit, .permits = 2}).error().code,
            Errc::busy);
  auto waiting = wait_for("modes", {.mode = Mode::shared});
  until_waiting("modes", 1);
  lock.release();
  EXPECT_TRUE(waiting.get());
}

TEST_F(EtcdctlTest, BareNamesAreTheirs) {
  Client bare = connect("?prefix=");
  EtcdctlLock lock = theirs("jobs/nightly report");
  ASSERT_NE(lock.key(kPatience), "");
  EXPECT_EQ(bare.try_acquire("jobs/nightly report").error().code, Errc::busy);
  EXPECT_TRUE(bare.try_acquire("jobs/nightly"));
  lock.release();
  auto lease = bare.acquire("jobs/nightly report");
  ASSERT_TRUE(lease);
  EtcdctlLock next = theirs("jobs/nightly report");
  EXPECT_EQ(next.key(kGlance), "");
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_NE(next.key(kPatience), "");
}

// As the guide has it: another program's keys, guarded by the mark in its own transaction.
TEST_F(EtcdctlTest, TheirTransactionsAreGuardedByOurMarks) {
  auto lease = client_.acquire("guard");
  ASSERT_TRUE(lease);
  ASSERT_TRUE(client_.store()->open("ledger", *lease));
  const auto guarded_put = [](std::uint64_t token) {
    const auto fixed = [](std::uint64_t number) {
      const std::string digits = std::to_string(number);
      return '"' + std::string(16 - digits.size(), '0') + digits + '"';
    };
    const std::string mark = R"(value("hf/\x01mark:value:ledger"))";
    const std::string txn = mark + " > " + fixed(token) + '\n' + mark + " < " + fixed(token + 1) +
                            "\n\nput balance 80\n\n\n";
    const std::string command = "printf '%s' '" + txn +
                                "' | " HOLDFAST_ETCDCTL " --endpoints=" + cluster().endpoints() +
                                " txn | grep -q SUCCESS";
    return std::system(command.c_str()) == 0;
  };
  EXPECT_TRUE(guarded_put(lease->token().value()));
  const std::uint64_t old = lease->token().value();
  ASSERT_EQ(lease->release(), ReleaseOutcome::released);
  auto next = client_.acquire("guard");
  ASSERT_TRUE(next);
  ASSERT_TRUE(client_.store()->open("ledger", *next));
  EXPECT_FALSE(guarded_put(old));
  EXPECT_TRUE(guarded_put(next->token().value()));
}

}  // namespace
}  // namespace holdfast::interop

int main(int argc, char** argv) { return holdfast::interop::main_with_holders(argc, argv); }
