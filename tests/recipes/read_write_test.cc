// Semaphores, and readers that become writers: nobody writes between what they read and write.

#include "holdfast/read_write.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <thread>

#include "holdfast/async_read_write.h"
#include "holdfast/async_semaphore.h"
#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using Writing = Result<WriteLease, AcquireError>;

class ReadWriteContract : public ContractTest {
 protected:
  bool can_share() { return can(&Capabilities::shared, {.mode = Mode::shared}); }
  ReadWriteLock lock() { return ReadWriteLock{reconnect(), "catalog"}; }
};
HOLDFAST_CONTRACT(ReadWriteContract);

TEST_P(ReadWriteContract, ReadersShareAndWritersDoNot) {
  if (!can_share()) return;
  ReadWriteLock one = lock();
  ReadWriteLock other = lock();
  auto first = one.read();
  auto second = other.read(Millis{0});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(other.write(Millis{0}).error().code, Errc::busy);
  EXPECT_TRUE(client().inspect(intent_lock("catalog"))->holders.empty());
  first->release();
  second->release();
  auto writer = one.write(kPatience);
  ASSERT_TRUE(writer);
  EXPECT_EQ(other.read(Millis{0}).error().code, Errc::busy);
  EXPECT_EQ(client().inspect("catalog")->holders.at(0).token, writer->token());
  EXPECT_EQ(writer->release(), ReleaseOutcome::released);
  EXPECT_TRUE(other.write(Millis{0}));
}

TEST_P(ReadWriteContract, ALoneReaderBecomesAWriterAndAReaderAgain) {
  if (!can_share()) return;
  ReadWriteLock catalog = lock();
  auto reader = catalog.read();
  ASSERT_TRUE(reader);
  const Token read_as = reader->token();
  auto writer = catalog.upgrade(*reader, kPatience);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_GT(writer->token(), read_as);
  EXPECT_FALSE(reader->ensure_held());
  auto again = catalog.downgrade(std::move(*writer), kPatience);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->lease().mode(), Mode::shared);
  EXPECT_TRUE(lock().read(Millis{0}));
  EXPECT_TRUE(client().inspect(intent_lock("catalog"))->holders.empty());
}

// Both would wait for the other to leave.
TEST_P(ReadWriteContract, TheSecondToUpgradeIsRefusedAtOnceAndReadsOn) {
  if (!can_share()) return;
  ReadWriteLock one = lock();
  ReadWriteLock other = lock();
  auto first = one.read();
  auto second = other.read();
  ASSERT_TRUE(first && second);
  auto upgrading = std::async(std::launch::async, [&] { return one.upgrade(*first, kPatience); });
  ASSERT_TRUE(wait_for_holders(intent_lock("catalog"), 1));
  const auto refused = other.upgrade(*second, kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(second->ensure_held());
  second->release();
  EXPECT_TRUE(upgrading.get());
}

TEST_P(ReadWriteContract, AWriterThatComesDuringAnUpgradeComesAfterIt) {
  if (!can_share()) return;
  ReadWriteLock one = lock();
  ReadWriteLock other = lock();
  ReadWriteLock third = lock();
  auto first = one.read();
  auto second = other.read();
  ASSERT_TRUE(first && second);
  auto upgrading = std::async(std::launch::async, [&] { return one.upgrade(*first, kPatience); });
  ASSERT_TRUE(wait_for_holders(intent_lock("catalog"), 1));
  auto writing = std::async(std::launch::async, [&] { return third.write(kPatience); });
  ASSERT_TRUE(wait_for_waiters(intent_lock("catalog"), 1));
  second->release();
  auto upgraded = upgrading.get();
  ASSERT_TRUE(upgraded) << upgraded.error().message;
  EXPECT_EQ(client().inspect("catalog")->holders.at(0).token, upgraded->token());
  const Token token = upgraded->token();
  upgraded->release();
  auto writer = writing.get();
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_GT(writer->token(), token);
}

TEST_P(ReadWriteContract, WhileAWriterWaitsNobodyUpgrades) {
  if (!can_share()) return;
  ReadWriteLock one = lock();
  ReadWriteLock other = lock();
  auto reader = one.read();
  ASSERT_TRUE(reader);
  auto writing = std::async(std::launch::async, [&] { return other.write(kPatience); });
  ASSERT_TRUE(wait_for_waiters("catalog", 1));
  EXPECT_EQ(one.upgrade(*reader, kPatience).error().code, Errc::busy);
  EXPECT_TRUE(reader->ensure_held());
  reader->release();
  EXPECT_TRUE(writing.get());
}

TEST_P(ReadWriteContract, AnUpgradeInVainLeavesTheReader) {
  if (!can_share()) return;
  ReadWriteLock one = lock();
  ReadWriteLock other = lock();
  auto first = one.read();
  auto second = other.read();
  ASSERT_TRUE(first && second);
  const auto refused = one.upgrade(*first, 300ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_TRUE(first->ensure_held());
  EXPECT_TRUE(second->ensure_held());
  EXPECT_EQ(client().inspect("catalog")->holders.size(), 2U);
  EXPECT_TRUE(client().inspect(intent_lock("catalog"))->holders.empty());
}

TEST_P(ReadWriteContract, AReaderThatWasBrokenCannotUpgrade) {
  if (!can_share()) return;
  ReadWriteLock catalog = lock();
  auto reader = catalog.read();
  ASSERT_TRUE(reader);
  ASSERT_TRUE(client().break_lock("catalog", "for the test"));
  const auto refused = catalog.upgrade(*reader, kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::lost);
  EXPECT_TRUE(client().inspect("catalog")->holders.empty());
  EXPECT_TRUE(client().inspect(intent_lock("catalog"))->holders.empty());
}

// Each reads a number, becomes a writer, and writes one more than it read; nothing else guards it.
TEST_P(ReadWriteContract, NobodyWritesBetweenReadingAndWriting) {
  if (!can_share()) return;
  constexpr int kEach = 5;
  std::atomic<int> number{0};
  const auto work = [&] {
    ReadWriteLock catalog = lock();
    for (int done = 0; done < kEach;) {
      auto reader = catalog.read(kPatience);
      ASSERT_TRUE(reader) << reader.error().message;
      const int found = number;
      auto writer = catalog.upgrade(*reader, kPatience);
      if (!writer) {
        ASSERT_EQ(writer.error().code, Errc::busy) << writer.error().message;
        continue;
      }
      number = found + 1;
      ++done;
    }
  };
  {
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 3; ++i) crowd.emplace_back(work);
  }
  EXPECT_EQ(number, 3 * kEach);
}

boost::asio::awaitable<void> change_places(Client client, std::vector<std::string>& story) {
  const ReadWriteLock catalog{client, "catalog"};
  auto reader = co_await async_read(catalog);
  story.push_back(reader ? "reads" : reader.error().message);
  auto writer = co_await async_upgrade(catalog, *reader);
  story.push_back(writer ? "writes" : writer.error().message);
  auto again = co_await async_downgrade(catalog, std::move(*writer));
  story.push_back(again ? "reads again" : again.error().message);
  auto refused = co_await async_write(catalog, Millis{0});
  story.push_back(refused ? "writes" : std::string{to_string(refused.error().code)});
}

TEST_P(ReadWriteContract, CoroutinesChangePlacesToo) {
  if (!can_share()) return;
  boost::asio::io_context context;
  std::vector<std::string> story;
  boost::asio::co_spawn(context, change_places(client(), story), boost::asio::detached);
  context.run();
  EXPECT_EQ(story, (std::vector<std::string>{"reads", "writes", "reads again", "busy"}));
}

using SemaphoreContract = ContractTest;
HOLDFAST_CONTRACT(SemaphoreContract);

boost::asio::awaitable<void> take_one(Semaphore& slots, std::vector<std::string>& story) {
  auto slot = co_await async_acquire(slots, Millis{0});
  story.push_back(slot ? "held" : std::string{to_string(slot.error().code)});
}

TEST_P(SemaphoreContract, AtMostSoManyHoldIt) {
  if (!can(&Capabilities::permits, {.mode = Mode::permit, .permits = 2})) return;
  Semaphore slots{client(), "slots", 2, {.label = "a test"}};
  auto first = slots.acquire();
  auto second = slots.try_acquire();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(slots.try_acquire().error().code, Errc::busy);
  const auto full = slots.look();
  ASSERT_TRUE(full);
  EXPECT_EQ(full->held, 2U);
  EXPECT_EQ(full->free, 0U);
  std::vector<std::string> story;
  boost::asio::io_context context;
  boost::asio::co_spawn(context, take_one(slots, story), boost::asio::detached);
  context.run();
  first->release();
  context.restart();
  boost::asio::co_spawn(context, take_one(slots, story), boost::asio::detached);
  context.run();
  EXPECT_EQ(story, (std::vector<std::string>{"busy", "held"}));
  EXPECT_EQ(Semaphore(client(), "slots", 3).try_acquire().error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::contract
