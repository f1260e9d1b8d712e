#include "engines/local/limit_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "engines/local/local_limiter.h"
#include "engines/local/test_directory.h"

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using core::Take;

class LimitTableTest : public testing::Test {
 protected:
  static Take take_of(const RateLimit& limit, const TakeOptions& options = {}) {
    return core::to_take(limit, options).value();
  }
  LimitTable open() { return LimitTable{LimitFile::open(directory_.path()).value()}; }
  std::string file() const { return directory_.path() + "/limits"; }
  Errc refusal() const {
    const auto opened = LimitFile::open(directory_.path());
    return opened ? Errc{} : opened.error().code;
  }

  TestDirectory directory_;
  TimePoint now_{1000h};
};

TEST_F(LimitTableTest, KeysHaveLimitsOfTheirOwnWhichEverybodySees) {
  LimitTable one = open();
  LimitTable other = open();
  const Take take = take_of({.rate = Rate::per_second(1), .burst = 2});
  EXPECT_EQ(one.reserve("a", take, now_)->remaining, 1U);
  EXPECT_EQ(other.reserve("a", take, now_)->remaining, 0U);
  const auto refused = one.reserve("a", take, now_);
  EXPECT_FALSE(refused->allowed);
  EXPECT_EQ(refused->retry_after, 1s);
  EXPECT_TRUE(one.reserve("b", take, now_)->allowed);
  EXPECT_TRUE(one.reserve("a", take, now_ + 1s)->allowed);
}

TEST_F(LimitTableTest, ALimitOutlivesWhoUsedIt) {
  const Take take = take_of({.rate = Rate::per_hour(1)});
  EXPECT_TRUE(open().reserve("a", take, now_)->allowed);
  EXPECT_FALSE(open().reserve("a", take, now_)->allowed);
}

TEST_F(LimitTableTest, SlotsOfKeysThatAreBackAreUsedAgain) {
  LimitTable table = open();
  const Take take = take_of({.rate = Rate::per_second(1)});
  for (int round = 0; round < 20; ++round, now_ += 2s) {
    for (int i = 0; i < 100'000; ++i) {
      ASSERT_TRUE(table.reserve("user/" + std::to_string(i), take, now_)) << round << ' ' << i;
    }
  }
}

TEST_F(LimitTableTest, TooManyKeysAtOnceAreRefusedAndNoneIsForgotten) {
  LimitTable table = open();
  const Take take = take_of({.rate = Rate::per_hour(1)});
  int full = 0;
  for (int i = 0; i < 300'000; ++i) {
    const auto taken = table.reserve("user/" + std::to_string(i), take, now_);
    if (!taken) ++full;
  }
  EXPECT_GT(full, 300'000 - 262'144 - 1);
  EXPECT_LT(full, 60'000);
  EXPECT_FALSE(table.reserve("user/0", take, now_)->allowed);
}

TEST_F(LimitTableTest, ThreadsNeverGetMoreThanTheBurst) {
  LimitTable table = open();
  const Take take = take_of({.rate = Rate::per_hour(1), .burst = 700});
  for (int round = 0; round < 50; ++round) {
    const std::string key = "key/" + std::to_string(round);
    std::atomic<int> granted{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 100; ++n) granted += table.reserve(key, take, now_)->allowed ? 1 : 0;
      });
    }
    threads.clear();
    ASSERT_EQ(granted, 700);
  }
}

/// Slots come free under the eyes of those who look for one: still none has its key twice.
TEST_F(LimitTableTest, ThreadsThatFindDifferentSlotsFreeAgreeOnOne) {
  LimitTable table = open();
  const Take take = take_of({.rate = {.permits = 1, .per = 100ns}});
  const Take once = take_of({.rate = Rate::per_hour(1)});
  std::atomic<std::int64_t> clock{now_.time_since_epoch().count()};
  std::vector<std::atomic<int>> granted(2'000);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t key = 0; key < granted.size(); ++key) {
        const TimePoint now{Duration{clock.fetch_add(50)}};
        for (int n = 0; n < 20; ++n) {
          (void)table.reserve("noise/" + std::to_string(i * 100'000 + n), take, now);
        }
        if (table.reserve("once/" + std::to_string(key), once, now)->allowed) ++granted[key];
      }
    });
  }
  threads.clear();
  for (const auto& count : granted) EXPECT_EQ(count, 1);
}

TEST_F(LimitTableTest, ForeignAndDamagedFilesAreRefusedAndLeftAlone) {
  std::ofstream{file()} << "hello";
  EXPECT_EQ(refusal(), Errc::corrupt);
  std::filesystem::remove(file());
  open();
  std::filesystem::resize_file(file(), 8192);
  EXPECT_EQ(refusal(), Errc::corrupt);
  std::filesystem::remove(file());
  open();
  std::fstream{file()}.seekp(8).put('\x7f');
  EXPECT_EQ(refusal(), Errc::corrupt);
}

TEST_F(LimitTableTest, AnotherBootBeginsAnew) {
  const Take take = take_of({.rate = Rate::per_hour(1)});
  EXPECT_TRUE(open().reserve("a", take, now_)->allowed);
  std::fstream{file()}.seekp(16).put('!');
  EXPECT_TRUE(open().reserve("a", take, now_)->allowed);
}

TEST_F(LimitTableTest, AFileThatWasNeverFinishedIsBegunAnew) {
  open();
  std::fstream{file()}.write("\0\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(refusal(), Errc{});
}

TEST_F(LimitTableTest, AForkedChildIsToldToConnectAnew) {
  auto limiter = LocalLimiter::open(directory_.path()).value();
  const Take take = take_of({.rate = Rate::per_hour(1)});
  const pid_t child = fork();
  if (child == 0) {
    const auto refused = limiter->reserve("a", take);
    limiter.reset();
    const bool told = !refused && refused.error().code == Errc::shutting_down;
    const bool anew = LocalLimiter::open(directory_.path()).value()->reserve("a", take)->allowed;
    _exit(told && anew ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(limiter->reserve("a", take)->allowed);
}

/// Killed at any moment, a process leaves the table so that everybody else goes on; and what it
/// took is taken.
TEST_F(LimitTableTest, ProcessesThatAreKilledLeaveNothingHalfDone) {
  const Take take = take_of({.rate = Rate::per_hour(1), .burst = 31 * 24});
  for (int round = 0; round < 20; ++round) {
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const UniqueFd read_end{pipe_ends[0]};
    UniqueFd write_end{pipe_ends[1]};
    const pid_t child = fork();
    if (child == 0) {
      LimitTable table = open();
      for (std::uint64_t i = 0;; ++i) {
        (void)table.reserve("key/" + std::to_string(i % 50'000), take, TimePoint{1000h});
        if (i % 100 == 0) (void)!write(write_end.get(), "", 1);
      }
    }
    write_end.reset();
    char sign = 0;
    for (int i = 0; i <= 7 * round; ++i) ASSERT_EQ(read(read_end.get(), &sign, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    LimitTable table = open();
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(table.reserve("other/" + std::to_string(i), take, now_));
    }
  }
}

}  // namespace
}  // namespace holdfast::local
