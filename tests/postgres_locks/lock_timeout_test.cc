// PostgreSQL's lock_timeout may end a wait that has just been granted the lock. Whoever is told
// that it has the lock has it, and whoever is told that it has none has none.

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "engines/postgres/schema/schema.h"
#include "tests/contract/patience.h"
#include "tests/postgres/process_family.h"
#include "tests/postgres/shared_server.h"
#include "tests/postgres_store/sql_connection.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

using contract::eventually;

constexpr auto kHeld =
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = 4711 AND "
    "pid = ";

bool is_there(const std::future<std::string>& answer) {
  return answer.wait_for(0s) == std::future_status::ready;
}

class LockTimeoutTest : public testing::Test {
 protected:
  LockTimeoutTest() : url_{shared_server().url("postgres", shared_server().create_database())} {
    SqlConnection administrator{url_};
    EXPECT_FALSE(administrator.script(installation_script({})));
  }

  /// What `wait` answers, one that waits for at most 500 ms, when the time is up and the lock is
  /// given before its backend can look at either.
  std::string answer_to_both(SqlConnection& waiter, const std::string& wait) {
    SqlConnection holder{url_};
    holder.value("SELECT pg_advisory_lock(4711)");
    const std::string pid = waiter.value("SELECT pg_backend_pid()");
    const std::string waits =
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = " +
        pid;
    for (;;) {
      auto answer = std::async(std::launch::async, [&] { return waiter.value(wait); });
      EXPECT_TRUE(eventually([&] { return holder.value(waits) == "1" || is_there(answer); }));
      const TimePoint time_is_up = BootClock::now() + 600ms;
      stop_all({std::stoi(pid)});
      const bool in_time = holder.value(waits) == "1";
      if (in_time) {
        EXPECT_TRUE(eventually([&] { return BootClock::now() > time_is_up; }));
        EXPECT_EQ(holder.value("SELECT pg_advisory_unlock(4711)"), "t");
        EXPECT_EQ(holder.value(kHeld + pid), "1");
      }
      continue_all({std::stoi(pid)});
      const std::string said = answer.get();
      // Otherwise this test was too slow, and the wait was over before.
      if (in_time) return said;
    }
  }

  std::string url_;
};

TEST_F(LockTimeoutTest, Item19_AWaitThatTimesOutWhenItIsGrantedKeepsTheLockAndSaysSo) {
  SqlConnection waiter{url_};
  EXPECT_NE(answer_to_both(waiter, "SELECT holdfast.advisory_wait(4711, false, 500)"), "NULL");
  EXPECT_EQ(waiter.value(std::string{kHeld} + "pg_backend_pid()"), "1");
}

// Which of the two it is told first is the server's affair.
TEST_F(LockTimeoutTest, Item19_WithinATransactionItHasTheLockOrGivesItBackAndSaysSo) {
  SqlConnection waiter{url_};
  ASSERT_FALSE(waiter.script("BEGIN"));
  const std::string token = answer_to_both(waiter, "SELECT holdfast.lock_xact(4711, false, 500)");
  const std::string held = waiter.value(std::string{kHeld} + "pg_backend_pid()");
  EXPECT_EQ(held, token == "NULL" ? "0" : "1") << token;
  EXPECT_EQ(waiter.value("SHOW lock_timeout"), "0");
}

TEST_F(LockTimeoutTest, WaitsOfAMillisecondAgainstHandOversSayWhatIsTrue) {
  std::jthread others{[&](const std::stop_token& stop) {
    SqlConnection holder{url_};
    while (!stop.stop_requested()) {
      holder.value("SELECT pg_advisory_lock(4711)");
      holder.value("SELECT count(*) FROM generate_series(1, (random() * 20000)::int)");
      holder.value("SELECT pg_advisory_unlock(4711)");
    }
  }};
  SqlConnection waiter{url_};
  for (int i = 0; i < 300; ++i) {
    const std::string token = waiter.value("SELECT holdfast.advisory_wait(4711, false, 1)");
    const std::string held = waiter.value(std::string{kHeld} + "pg_backend_pid()");
    ASSERT_EQ(held, token == "NULL" ? "0" : "1") << token;
    if (held == "1") {
      ASSERT_EQ(waiter.value("SELECT pg_advisory_unlock(4711)"), "t");
    }
  }
}

}  // namespace
}  // namespace holdfast::postgres
