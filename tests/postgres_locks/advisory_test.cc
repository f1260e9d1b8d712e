// The advisory engine on a real server: which sessions it uses, and what the server knows of them.

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <sstream>

#include "engines/postgres/advisory/advisory_desk.h"
#include "engines/postgres/advisory/advisory_engine.h"
#include "engines/postgres/advisory/advisory_key.h"
#include "engines/postgres/driver/postgres_driver.h"
#include "engines/postgres/driver/postgres_url.h"
#include "engines/postgres/schema/schema.h"
#include "runtime/asio_env.h"
#include "tests/contract/patience.h"
#include "tests/postgres/postgres_server.h"
#include "tests/servers/env_bed.h"

namespace holdfast::postgres::advisory {
namespace {

using namespace std::chrono_literals;

using contract::eventually;

using Acquired = Result<core::Grant, AcquireError>;

PostgresServer& server() {
  static PostgresServer only;
  return only;
}

/// Hears what is lost.
struct Losses final : core::LeaseNews {
  void lost(const Owner&, LossReason reason) override { told.set_value(reason); }
  void in_doubt() override {}
  std::promise<LossReason> told;
};

class AdvisoryTest : public testing::Test {
 protected:
  void SetUp() override {
    env_ = runtime::AsioEnv::create().value();
    const auto url = parse_postgres_url(server().url()).value();
    port_ = PostgresDriver::create(*env_, url.target).value();
    ASSERT_TRUE(run(ensure_schema(*port_, env_->now() + 30s)));
    engine_ = make_engine();
    server().psql("SELECT count(pg_terminate_backend(pid, 5000)) FROM holdfast.advisory_session");
  }

  /// Engines and sessions belong to the Env's thread, which may be busy with them.
  void TearDown() override {
    servers::run_on(*env_, [&] {
      silent_.reset();
      engine_.reset();
      port_.reset();
    });
  }

  /// Waits for what the task says, outside of the Env.
  template <class T>
  T run(Task<T> task) {
    std::promise<T> said;
    auto answer = said.get_future();
    env_->spawn(say(std::move(task), &said));
    return answer.get();
  }
  template <class T>
  static Task<void> say(Task<T> task, std::promise<T>* said) {
    auto value = co_await std::move(task);
    said->set_value(std::move(value));
  }

  std::shared_ptr<AdvisoryEngine> make_engine() {
    return std::make_shared<AdvisoryEngine>(*env_, port_, Settings{});
  }

  core::LockRequest request(const std::string& name, Millis ttl = 30s) {
    return {.name = LockName{name}, .owner = env_->fresh_owner(), .ttl = ttl};
  }
  static core::LockRequest shared(core::LockRequest wanted) {
    wanted.claim.mode = holdfast::Mode::shared;
    return wanted;
  }
  Acquired acquire(core::LockRequest wanted, Duration wait = 0s, std::stop_token stop = {}) {
    return run(engine_->acquire(std::move(wanted), env_->now() + wait, std::move(stop)));
  }
  std::future<Acquired> begin(core::LockRequest wanted, std::stop_token stop = {}) {
    return std::async(std::launch::async,
                      [this, wanted, stop] { return acquire(wanted, 30s, stop); });
  }
  ReleaseOutcome release(const core::LockRequest& wanted, const Acquired& granted) {
    const core::HeldLease lease{
        .name = wanted.name, .owner = wanted.owner, .token = granted->token, .claim = wanted.claim};
    return run(engine_->release(lease, granted->valid_until, env_->now() + 5s));
  }

  static int sessions_with_locks() {
    return std::stoi(server().psql(
        "SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"));
  }
  static int waiting() {
    return std::stoi(
        server().psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"));
  }
  static int sessions() {
    return std::stoi(
        server().psql("SELECT count(*) FROM pg_stat_activity a "
                      "JOIN holdfast.advisory_session s ON s.pid = a.pid"));
  }

  std::unique_ptr<runtime::AsioEnv> env_;
  std::shared_ptr<PostgresDriver> port_;
  std::shared_ptr<AdvisoryEngine> engine_;
  /// One that was replaced.
  std::shared_ptr<AdvisoryEngine> silent_;
};

TEST_F(AdvisoryTest, FreeLocksShareOneSession) {
  Token last{0};
  for (int i = 0; i < 50; ++i) {
    const auto granted = acquire(request("free " + std::to_string(i)));
    ASSERT_TRUE(granted) << granted.error().message;
    EXPECT_GT(granted->token, last);
    last = granted->token;
  }
  EXPECT_EQ(sessions_with_locks(), 1);
}

TEST_F(AdvisoryTest, ANameIsHeldOnceByOneProcess) {
  const auto wanted = request("once");
  const auto granted = acquire(wanted);
  ASSERT_TRUE(granted);
  EXPECT_EQ(acquire(request("once")).error().code, Errc::busy);
  EXPECT_EQ(acquire(shared(request("once"))).error().code, Errc::busy);
  EXPECT_EQ(release(wanted, granted), ReleaseOutcome::released);
  EXPECT_EQ(release(wanted, granted), ReleaseOutcome::already_lost);
  EXPECT_TRUE(acquire(request("once")));
}

TEST_F(AdvisoryTest, OneThatWaitsHasASessionOfItsOwnAndKeepsTheLockThere) {
  const auto first = request("waited");
  const auto granted = acquire(first);
  ASSERT_TRUE(granted);
  const auto other = acquire(request("another"));
  auto next = begin(request("waited"));
  ASSERT_TRUE(eventually([] { return waiting() == 1; }));
  EXPECT_EQ(sessions_with_locks(), 2);
  EXPECT_EQ(release(first, granted), ReleaseOutcome::released);
  const auto handed_over = next.get();
  ASSERT_TRUE(handed_over) << handed_over.error().message;
  EXPECT_GT(handed_over->token, granted->token);
  EXPECT_EQ(sessions_with_locks(), 2);
}

TEST_F(AdvisoryTest, ASecondReaderDoesNotOvertakeAWriterOfItsProcess) {
  const auto reader = shared(request("shared"));
  const auto granted = acquire(reader);
  ASSERT_TRUE(granted);
  auto writer = begin(request("shared"));
  ASSERT_TRUE(eventually([] { return waiting() == 1; }));
  EXPECT_EQ(acquire(shared(request("shared"))).error().code, Errc::busy);
  EXPECT_EQ(release(reader, granted), ReleaseOutcome::released);
  EXPECT_TRUE(writer.get());
}

TEST_F(AdvisoryTest, AWaitEndsInTimeAndLeavesNothing) {
  const auto held = acquire(request("late"));
  ASSERT_TRUE(held);
  const TimePoint asked_at = env_->now();
  const auto refused = acquire(request("late"), 150ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_GE(env_->now() - asked_at, 150ms);
  EXPECT_EQ(refused.error().holder->token, held->token);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(AdvisoryTest, ACancelledWaitLeavesNothing) {
  const auto first = request("cancelled");
  const auto held = acquire(first);
  ASSERT_TRUE(held);
  std::stop_source stop;
  auto next = begin(request("cancelled"), stop.get_token());
  ASSERT_TRUE(eventually([] { return waiting() == 1; }));
  stop.request_stop();
  EXPECT_EQ(next.get().error().code, Errc::cancelled);
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(release(first, held), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([] { return sessions_with_locks() == 0; }));
}

TEST_F(AdvisoryTest, TheServerFreesALockThatIsNotRenewedForATtl) {
  const auto granted = acquire(request("silent", 500ms));
  ASSERT_TRUE(granted);
  // Still there, and nobody renews what it holds.
  silent_ = std::exchange(engine_, make_engine());
  const auto next = acquire(request("silent"), 30s);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(env_->now(), granted->valid_until);
}

TEST_F(AdvisoryTest, RenewingKeepsAllLocksOfASession) {
  const auto wanted = request("renewed", 600ms);
  const auto granted = acquire(wanted);
  ASSERT_TRUE(granted);
  const core::HeldLease lease{
      .name = wanted.name, .owner = wanted.owner, .token = granted->token, .claim = wanted.claim};
  const TimePoint end = env_->now() + 2s;
  auto other = std::async(std::launch::async, [this] { return acquire(request("renewed"), 2s); });
  while (env_->now() < end) {
    const auto fates = run(engine_->renew({lease}, 600ms, env_->now() + 300ms));
    ASSERT_TRUE(fates);
    EXPECT_EQ(fates->at(0), core::Fate::renewed);
    poll(nullptr, 0, 100);
  }
  EXPECT_EQ(other.get().error().code, Errc::timeout);
}

TEST_F(AdvisoryTest, TheEndOfASessionIsToldWithItsReason) {
  const auto losses = std::make_shared<Losses>();
  engine_->tell(losses);
  ASSERT_TRUE(acquire(request("ended")));
  server().psql("SELECT pg_terminate_backend(pid) FROM holdfast.advisory_session");
  auto told = losses->told.get_future();
  ASSERT_EQ(told.wait_for(contract::kPatience), std::future_status::ready);
  EXPECT_EQ(told.get(), LossReason::revoked);
  EXPECT_TRUE(acquire(request("ended"), 30s));
}

TEST_F(AdvisoryTest, SessionsThatNobodyNeedsAreClosed) {
  const auto wanted = request("brief", 400ms);
  const auto granted = acquire(wanted);
  ASSERT_TRUE(granted);
  EXPECT_EQ(release(wanted, granted), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([] { return sessions() == 0; }));
  EXPECT_TRUE(acquire(request("brief")));
}

TEST_F(AdvisoryTest, WhoObservesALockHearsWhatOthersAnnounceOfIt) {
  const auto observer = std::make_shared<AdvisoryDesk>(*env_, port_, Settings{});
  const auto leader = std::make_shared<AdvisoryDesk>(*env_, port_, Settings{});
  std::unique_ptr<core::LockEar> ear;
  std::atomic<int> told{0};
  servers::run_on(*env_, [&] { ear = observer->listen(LockName{"led"}, [&told] { ++told; }); });
  ASSERT_TRUE(eventually([&] { return told == 1; })) << "begins to hear";
  servers::run_on(*env_, [&] {
    leader->announce(LockName{"another"});
    leader->announce(LockName{"led"});
  });
  EXPECT_TRUE(eventually([&] { return told == 2; }));
  servers::run_on(*env_, [&] { ear.reset(); });
}

TEST_F(AdvisoryTest, KeysAreThoseOfTheSqlInTheGuide) {
  for (const std::string name : {"reports/daily", "ä", "id:x"}) {
    EXPECT_EQ(server().psql("SELECT ('x' || encode(substr(sha256(convert_to('hf/" + name +
                            "', 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint"),
              std::to_string(advisory_key("hf/", name)));
  }
}

}  // namespace
}  // namespace holdfast::postgres::advisory
