// Holdfast's advisory locks and those that `psql` takes exclude each other, both ways: uncontended,
// queued, shared, released, and when either side is killed.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "holdfast/client.h"
#include "tests/interop/foreign_client.h"
#include "tests/interop/our_holder.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

// Far longer than anything here takes; a test that needs it fails.
constexpr Millis kPatience{30'000};
/// Somebody who is to get nothing has had the chance: the server decides at once.
constexpr Millis kGlance{300};

std::string url() { return postgres::shared_server().url() + "?mode=advisory"; }

Client connect(const std::string& address = url()) {
  auto client = Client::connect(address);
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

/// One session of psql's.
class Psql {
 public:
  Psql()
      : client_{std::make_unique<ForeignClient>(std::vector<std::string>{
            "/bin/sh",
            "-c",
            "echo ready; exec psql -X -q -At -h 127.0.0.1 -U postgres -p " +
                std::to_string(postgres::shared_server().port())})} {}

  /// Of a query that answers one row.
  std::string ask(const std::string& sql) { return client_->ask(sql + ';'); }
  std::future<std::string> begin(const std::string& sql) {
    return std::async(std::launch::async, [this, sql] { return ask(sql); });
  }
  void kill() { client_.reset(); }

 private:
  std::unique_ptr<ForeignClient> client_;
};

/// As the guide has it.
std::string key_of(const std::string& full_name) {
  return "('x' || encode(substr(sha256(convert_to('" + full_name +
         "', 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint";
}

class PsqlTest : public testing::Test {
 protected:
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
  Psql psql_;
};

TEST_F(PsqlTest, TheirLockKeepsUsOutUntilTheyReleaseIt) {
  psql_.ask("SELECT pg_advisory_lock(1001)");
  const auto refused = client_.try_acquire("id:1001");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_TRUE(refused.error().holder->foreign);
  EXPECT_EQ(client_.inspect("id:1001")->holders.at(0).label, "psql");
  auto waiting = wait_for("id:1001");
  until_waiting("id:1001", 1);
  EXPECT_EQ(waiting.wait_for(kGlance), std::future_status::timeout);
  EXPECT_EQ(psql_.ask("SELECT pg_advisory_unlock(1001)"), "t");
  const auto lease = waiting.get();
  ASSERT_TRUE(lease) << lease.error().message;
}

TEST_F(PsqlTest, OurLockKeepsThemOutUntilWeReleaseIt) {
  auto lease = client_.acquire("id:1002");
  ASSERT_TRUE(lease);
  EXPECT_EQ(psql_.ask("SELECT pg_try_advisory_lock(1002)"), "f");
  auto waiting = psql_.begin("SELECT pg_advisory_lock(1002)");
  until_waiting("id:1002", 1);
  EXPECT_TRUE(client_.inspect("id:1002")->waiters.at(0).foreign);
  EXPECT_EQ(waiting.wait_for(kGlance), std::future_status::timeout);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(waiting.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(client_.try_acquire("id:1002").error().code, Errc::busy);
}

TEST_F(PsqlTest, NamesAreTheKeysThatTheGuideComputes) {
  const std::string key = key_of("hf/reports/täglich");
  psql_.ask("SELECT pg_advisory_lock(" + key + ")");
  EXPECT_EQ(client_.try_acquire("reports/täglich").error().code, Errc::busy);
  EXPECT_TRUE(connect(url() + "&prefix=").try_acquire("reports/täglich"));
  EXPECT_EQ(psql_.ask("SELECT pg_advisory_unlock(" + key + ")"), "t");
  EXPECT_TRUE(client_.try_acquire("reports/täglich"));
}

TEST_F(PsqlTest, BothStandInOneQueue) {
  auto lease = client_.acquire("id:-1003");
  ASSERT_TRUE(lease);
  auto theirs = psql_.begin("SELECT pg_advisory_lock(-1003)");
  until_waiting("id:-1003", 1);
  Client another = connect();
  auto last = std::async(std::launch::async, [&] { return another.acquire("id:-1003"); });
  until_waiting("id:-1003", 2);
  const Token first = lease->token();
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  ASSERT_EQ(theirs.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(last.wait_for(kGlance), std::future_status::timeout);
  EXPECT_EQ(psql_.ask("SELECT pg_advisory_unlock(-1003)"), "t");
  const auto next = last.get();
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), first);
}

TEST_F(PsqlTest, ReadersOfBothKeepWritersOfBothOut) {
  psql_.ask("SELECT pg_advisory_lock_shared(1004)");
  auto reader = client_.acquire("id:1004", {.mode = Mode::shared});
  ASSERT_TRUE(reader);
  EXPECT_EQ(client_.try_acquire("id:1004").error().code, Errc::busy);
  Psql writer;
  EXPECT_EQ(writer.ask("SELECT pg_try_advisory_lock(1004)"), "f");
  EXPECT_EQ(psql_.ask("SELECT pg_advisory_unlock_shared(1004)"), "t");
  EXPECT_EQ(writer.ask("SELECT pg_try_advisory_lock(1004)"), "f");
  EXPECT_EQ(reader->release(), ReleaseOutcome::released);
  EXPECT_EQ(writer.ask("SELECT pg_try_advisory_lock(1004)"), "t");
  EXPECT_EQ(client_.try_acquire("id:1004", {.mode = Mode::shared}).error().code, Errc::busy);
}

TEST_F(PsqlTest, TheirsThatWasKilledIsHandedOn) {
  psql_.ask("SELECT pg_advisory_lock(1005)");
  auto waiting = wait_for("id:1005", {.wait = kPatience});
  until_waiting("id:1005", 1);
  psql_.kill();
  EXPECT_TRUE(waiting.get());
}

TEST_F(PsqlTest, OursThatWasKilledIsHandedOn) {
  OurHolder holder{url(), "id:1006"};
  auto waiting = psql_.begin("SELECT pg_advisory_lock(1006)");
  until_waiting("id:1006", 1);
  EXPECT_EQ(waiting.wait_for(kGlance), std::future_status::timeout);
  holder.kill();
  EXPECT_EQ(waiting.wait_for(kPatience), std::future_status::ready);
}

TEST_F(PsqlTest, TheirsIsTakenAwayByBreak) {
  psql_.ask("SELECT pg_advisory_lock(1007)");
  const auto report = client_.break_lock("id:1007", "stuck");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->holders.at(0).foreign);
  EXPECT_TRUE(client_.try_acquire("id:1007"));
}

}  // namespace
}  // namespace holdfast::interop

int main(int argc, char** argv) { return holdfast::interop::main_with_holders(argc, argv); }
