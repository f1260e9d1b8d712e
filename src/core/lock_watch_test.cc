#include "core/lock_watch.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using Looks = std::vector<std::vector<LockInfo>>;

std::vector<Contender> contenders(const std::vector<std::string>& owners) {
  std::vector<Contender> all;
  for (const std::string& owner_fp : owners) all.emplace_back().owner_fp = owner_fp;
  return all;
}

LockInfo lock(const std::string& name,
              const std::vector<std::string>& holders,
              const std::vector<std::string>& waiters = {}) {
  LockInfo info;
  info.name = name;
  info.holders = contenders(holders);
  info.waiters = contenders(waiters);
  return info;
}

std::string line(const LockEvent& event) {
  return std::string{to_string(event.change)} + " " + event.name + " " + event.contender.owner_fp;
}

/// What is told of these looks, one after the other.
std::vector<std::string> watch(const Looks& looks) {
  std::vector<std::string> told;
  std::stop_source stop;
  std::size_t next = 0;
  const auto list = [&]() -> Result<std::vector<LockInfo>> {
    if (next + 1 == looks.size()) stop.request_stop();
    return looks.at(next++);
  };
  const auto callback = [&](const LockEvent& event) { told.push_back(line(event)); };
  EXPECT_TRUE(watch_locks(list, 1ms, callback, stop.get_token()));
  return told;
}

TEST(LockWatchTest, BeginsWithWhatIsThere) {
  const LockInfo x = lock("x", {"a"}, {"b"});
  EXPECT_EQ(watch({{x}}), (std::vector<std::string>{"granted x a", "waiting x b"}));
}

TEST(LockWatchTest, TellsOfAHandOverInItsOrder) {
  const LockInfo before = lock("x", {"b"}, {"a"});
  const LockInfo after = lock("x", {"a"});
  EXPECT_EQ(watch({{before}, {after}, {}}),
            (std::vector<std::string>{
                "waiting x a", "granted x b", "released x b", "granted x a", "released x a"}));
}

TEST(LockWatchTest, SaysNothingWhileNothingChanges) {
  LockInfo x = lock("x", {"a"});
  LockInfo later = x;
  later.holders[0].ttl = 5s;
  EXPECT_EQ(watch({{x}, {later}, {x}}), std::vector<std::string>{"granted x a"});
}

TEST(LockWatchTest, AWaiterThatGivesUpIsNotARelease) {
  const LockInfo x = lock("x", {}, {"a"});
  EXPECT_EQ(watch({{x}, {}}), std::vector<std::string>{"waiting x a"});
}

TEST(LockWatchTest, TheSameOwnerOnTwoLocksIsTwo) {
  const LockInfo x = lock("x", {"a"});
  const LockInfo y = lock("y", {"a"});
  EXPECT_EQ(watch({{x, y}, {y}}),
            (std::vector<std::string>{"granted x a", "granted y a", "released x a"}));
}

TEST(LockWatchTest, EndsWithTheErrorOfALook) {
  const auto list = []() -> Result<std::vector<LockInfo>> {
    return Unexpected{Error{Errc::unavailable, "down"}};
  };
  const auto watched = watch_locks(
      list, 1ms, [](const LockEvent&) {}, std::stop_token{});
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().code, Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::core
