#include "engines/postgres/postgres_desk.h"

#include <gtest/gtest.h>

#include "core/validity.h"
#include "engines/postgres/postgres_testing.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

const Value kNone{};
const std::string kHolder(32, 'a');
const std::string kWaiter(32, 'b');

class PostgresDeskTest : public testing::Test {
 protected:
  PostgresDeskTest() {
    port_->server = [this](const FakePort::Sent&) { return std::exchange(answer_, std::nullopt); };
  }

  template <class T>
  static Task<void> put(Task<T> task, std::optional<T>& to) {
    T value = co_await std::move(task);
    to = std::move(value);
  }
  /// What is answered when the server says `rows`; nothing: it says nothing.
  template <class T>
  T answered(std::optional<Rows> rows, Task<T> task) {
    answer_ = std::move(rows);
    std::optional<T> value;
    env_.spawn(put(std::move(task), value));
    scheduler_.advance(1min);
    return *std::move(value);
  }
  TimePoint soon() const { return env_.now() + 2s; }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  std::optional<Rows> answer_;
  std::shared_ptr<FakePort> port_{std::make_shared<FakePort>(env_)};
  std::shared_ptr<PostgresEngine> engine_{
      std::make_shared<PostgresEngine>(env_, port_, Settings{.timeout = 1s})};
  std::shared_ptr<PostgresDesk> desk_{std::make_shared<PostgresDesk>(env_, port_, engine_, "hf/")};
  const LockName name_{"ledger"};
  const Owner owner_ = env_.fresh_owner();
};

TEST_F(PostgresDeskTest, ALookWithoutAnAnswerChangedNothing) {
  EXPECT_EQ(answered(std::nullopt, desk_->inspect(name_, soon())).error().code, Errc::unavailable);
  EXPECT_EQ(answered(std::nullopt, desk_->list("", soon())).error().code, Errc::unavailable);
}

TEST_F(PostgresDeskTest, AnActWithoutAnAnswerMayHaveChangedSomething) {
  EXPECT_EQ(answered(std::nullopt, desk_->break_lock(name_, "test", soon())).error().code,
            Errc::unknown_outcome);
  EXPECT_EQ(answered(std::nullopt, desk_->extend(name_, owner_, 1s, soon())).error().code,
            Errc::unknown_outcome);
}

TEST_F(PostgresDeskTest, ListsLocksWithoutThePrefixOfThisClient) {
  const Rows rows{{"hf/a", "holder", kHolder, "", "x", "7", "900", "1000"},
                  {"hf/a", "waiter", kWaiter, "", "x", kNone, kNone, "1000"},
                  {"hf/b", "holder", kHolder, "", "s", "8", "900", "1000"}};
  const auto locks = answered(rows, desk_->list("", soon()));
  ASSERT_TRUE(locks);
  ASSERT_EQ(locks->size(), 2u);
  EXPECT_EQ((*locks)[0].name, "a");
  EXPECT_EQ((*locks)[0].holders.size(), 1u);
  EXPECT_EQ((*locks)[0].waiters.size(), 1u);
  EXPECT_EQ((*locks)[1].name, "b");
  EXPECT_EQ((*locks)[1].mode, Mode::shared);
}

TEST_F(PostgresDeskTest, BreakSaysWhoseLeasesEnded) {
  const auto report =
      answered(Rows{{kHolder, "7", ""}, {kWaiter, "8", ""}}, desk_->break_lock(name_, "", soon()));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->holders.size(), 2u);
  EXPECT_EQ(report->holders[0].token, Token{7});
  EXPECT_EQ(answered(Rows{}, desk_->break_lock(name_, "", soon())).error().code, Errc::not_found);
}

TEST_F(PostgresDeskTest, BreakLiftsALockDelay) {
  const auto report = answered(Rows{{kNone, kNone, kNone}}, desk_->break_lock(name_, "", soon()));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->holders.empty());
}

TEST_F(PostgresDeskTest, AnExtendedLeaseIsReliedOnWithoutTheDrift) {
  const auto lasts = answered(Rows{{"5000"}}, desk_->extend(name_, owner_, 5s, soon()));
  ASSERT_TRUE(lasts);
  EXPECT_EQ(*lasts, 5s - core::drift_allowance(5s));
  EXPECT_EQ(answered(Rows{{kNone}}, desk_->extend(name_, owner_, 5s, soon())).error().code,
            Errc::lost);
}

TEST_F(PostgresDeskTest, AReleaseByOwnerIsAsTheServerSays) {
  EXPECT_EQ(answered(Rows{{"t"}}, desk_->release(name_, owner_, soon())).value(),
            ReleaseOutcome::released);
  EXPECT_EQ(answered(Rows{{"f"}}, desk_->release(name_, owner_, soon())).value(),
            ReleaseOutcome::already_lost);
  EXPECT_EQ(answered(std::nullopt, desk_->release(name_, owner_, soon())).value(),
            ReleaseOutcome::unknown);
}

}  // namespace
}  // namespace holdfast::postgres
