// The engine on a real server: hand-overs that are heard, and waiting that costs nothing.

#include <gtest/gtest.h>

#include "base/secret.h"
#include "engines/postgres/postgres_engine.h"
#include "tests/postgres_locks/lease_bed.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

using Granted = Result<core::Grant, AcquireError>;

/// A process with an engine of its own.
class Process {
 public:
  explicit Process(const std::string& database) : bed_{shared_server().url("postgres", database)} {
    bed_.on_env([this] {
      engine_ = std::make_shared<PostgresEngine>(bed_.env(), bed_.driver(), Settings{});
    });
  }
  ~Process() {
    bed_.on_env([this] { engine_.reset(); });
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::future<Granted> begin_acquire(const std::string& name,
                                     Owner owner,
                                     Millis ttl = 60s,
                                     Duration wait = 1min) {
    const core::LockRequest request{.name = LockName{name}, .owner = owner, .ttl = ttl};
    return start<Granted>(engine_->acquire(request, bed_.env().now() + wait, {}));
  }
  ReleaseOutcome release(const std::string& name, Owner owner) {
    const TimePoint by = bed_.env().now() + 10s;
    return get(start<ReleaseOutcome>(engine_->release(LockName{name}, owner, by)));
  }
  std::uint64_t statements() { return bed_.stats().statements; }

 private:
  template <class T>
  static Task<void> put(Task<T> task, std::shared_ptr<std::promise<T>> to) {
    T value = co_await std::move(task);
    to->set_value(std::move(value));
  }
  template <class T>
  std::future<T> start(Task<T> task) {
    const auto promise = std::make_shared<std::promise<T>>();
    bed_.env().spawn(put<T>(std::move(task), promise));
    return promise->get_future();
  }

  DriverBed bed_;
  std::shared_ptr<PostgresEngine> engine_;
};

class HandOverTest : public testing::Test {
 protected:
  /// Waits until it stands in line by a session of its process.
  void wait_for_place(Owner owner) const {
    const std::string look =
        "SELECT count(session) FROM holdfast.waiter WHERE owner = '" + owner.to_string() + "'";
    const TimePoint limit = BootClock::now() + kBound;
    while (shared_server().psql(look, database_) != "1") ASSERT_LT(BootClock::now(), limit);
  }

  const std::string database_ = lease_database();
  Process a_{database_};
  Process b_{database_};
  const Owner first_ = fresh_owner();
  const Owner second_ = fresh_owner();
};

TEST_F(HandOverTest, WhoWaitsHearsOfItsTurn) {
  const auto held = get(a_.begin_acquire("x", first_));
  ASSERT_TRUE(held) << held.error().message;
  auto waiting = b_.begin_acquire("x", second_);
  wait_for_place(second_);
  EXPECT_EQ(a_.release("x", first_), ReleaseOutcome::released);
  const auto granted = get(std::move(waiting));
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_GT(granted->token, held->token);
  EXPECT_EQ(b_.release("x", second_), ReleaseOutcome::released);
}

TEST_F(HandOverTest, WaitingAddsNoStatement) {
  ASSERT_TRUE(get(a_.begin_acquire("x", first_)));
  auto waiting = b_.begin_acquire("x", second_);
  wait_for_place(second_);
  // The confirmation of a lock of its own comes after whatever its place still needed.
  const Owner other = fresh_owner();
  ASSERT_TRUE(get(b_.begin_acquire("y", other)));
  const std::uint64_t before = b_.statements();
  EXPECT_EQ(waiting.wait_for(500ms), std::future_status::timeout);
  EXPECT_EQ(b_.statements(), before);
  a_.release("x", first_);
  EXPECT_TRUE(get(std::move(waiting)));
}

TEST_F(HandOverTest, AProcessThatEndedIsPassedOver) {
  ASSERT_TRUE(get(a_.begin_acquire("x", first_)));
  std::future<Granted> lost;
  {
    Process gone{database_};
    const Owner its = fresh_owner();
    lost = gone.begin_acquire("x", its);
    wait_for_place(its);
  }
  auto waiting = b_.begin_acquire("x", second_);
  wait_for_place(second_);
  EXPECT_EQ(a_.release("x", first_), ReleaseOutcome::released);
  EXPECT_TRUE(get(std::move(waiting)));
}

TEST_F(HandOverTest, TheFirstTakesOverFromAHolderThatVanished) {
  ASSERT_TRUE(get(a_.begin_acquire("x", first_, 300ms)));
  auto waiting = b_.begin_acquire("x", second_);
  EXPECT_TRUE(get(std::move(waiting)));
}

// Its place is lost with the session, or kept: in any case it is given the lock.
TEST_F(HandOverTest, AnEndedSessionDoesNotEndTheWait) {
  ASSERT_TRUE(get(a_.begin_acquire("x", first_)));
  auto waiting = b_.begin_acquire("x", second_);
  wait_for_place(second_);
  shared_server().psql(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
      "AND objsubid = 1 AND pid <> pg_backend_pid()");
  EXPECT_EQ(a_.release("x", first_), ReleaseOutcome::released);
  EXPECT_TRUE(get(std::move(waiting)));
}

}  // namespace
}  // namespace holdfast::postgres
