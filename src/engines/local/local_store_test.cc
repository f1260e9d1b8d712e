// What is the local store's own: its file, its limits, its neighbours. The rules of every store are
// in tests/contract.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "engines/local/local_store_testing.h"

namespace holdfast::local {
namespace {

TEST_F(LocalStoreTest, ValuesOutliveTheProcess) {
  ASSERT_TRUE((*open())->perform(put("a")));
  EXPECT_EQ((*open())->perform(get())->entry->value, "a");
}

TEST_F(LocalStoreTest, ManyMayOpenItFirst) {
  std::vector<std::thread> threads;
  std::atomic<int> opened{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto store = open();
      ASSERT_TRUE(store) << store.error().message;
      if ((*store)->perform(put("a", "k" + std::to_string(i)))) ++opened;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, 8);
}

TEST_F(LocalStoreTest, TheFileIsThisUsersAlone) {
  std::ofstream{directory_.path() + "/locks"} << "";
  chmod((directory_.path() + "/locks").c_str(), 0600);
  const auto store = open();
  ASSERT_TRUE(store);
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(LocalStoreTest, WhatIsNotAStoreIsLeftAsItIs) {
  const std::string noise(8192, '#');
  overwrite(noise);
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::corrupt);
  EXPECT_NE(store.error().message.find(path()), std::string::npos);
  EXPECT_EQ(contents(), noise);
}

TEST_F(LocalStoreTest, ADatabaseOfAnotherProgramIsLeftAsItIs) {
  {
    auto database = Database::open(path(), Millis{1000});
    ASSERT_TRUE((*database)->execute("CREATE TABLE theirs(x)"));
  }
  const std::string before = contents();
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::corrupt);
  EXPECT_EQ(contents(), before);
}

TEST_F(LocalStoreTest, ATruncatedStoreIsRefused) {
  ASSERT_TRUE((*open())->perform(put(std::string(100'000, 'v'))));
  const std::string whole = contents();
  ASSERT_GT(whole.size(), 8192U);
  overwrite(whole.substr(0, 8192));
  const auto store = open();
  const Errc code = store ? (*store)->perform(get()).error().code : store.error().code;
  EXPECT_EQ(code, Errc::corrupt);
  // Whoever has a copy is served again.
  overwrite(whole);
  EXPECT_EQ((*open())->perform(get())->entry->value.size(), 100'000U);
}

TEST_F(LocalStoreTest, AStoreThatWasDeletedIsNotWrittenForLong) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform(put("a")));
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path() + end);
  ASSERT_FALSE((*open())->perform(get())->entry);
  const TimePoint late = BootClock::now() + Millis{10'000};
  auto refused = (*store)->perform(put("b"));
  while (refused && BootClock::now() < late) refused = (*store)->perform(put("b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ((*store)->perform(opened("k", 1)).error().code, Errc::corrupt);
  EXPECT_TRUE((*open())->perform(put("c")));
}

TEST_F(LocalStoreTest, NoSpaceChangesNothing) {
  ASSERT_TRUE((*open())->perform(put("before")));
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 * 1024, .rlim_max = 64 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto store = LocalStore::open(directory_.path(), {.sync = Sync::off});
    if (!store) _exit(1);
    const auto full = (*store)->perform(put(std::string(500'000, 'v')));
    if (full) _exit(2);
    const bool right = full.error().code == Errc::no_space || full.error().code == Errc::io_error;
    const auto still = (*store)->perform(get());
    _exit(right && still && still->entry->value == "before" ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ((*open())->perform(get())->entry->value, "before");
}

TEST_F(LocalStoreTest, AnotherProcessThatKeepsItLockedIsWaitedForInVain) {
  auto store = open({.sync = Sync::off, .timeout = Millis{50}});
  ASSERT_TRUE(store);
  auto other = Database::open(path(), Millis{1000});
  ASSERT_TRUE((*other)->execute("BEGIN IMMEDIATE"));
  const auto refused = (*store)->perform(put("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_TRUE((*store)->perform(get()));
  ASSERT_TRUE((*other)->execute("COMMIT"));
  EXPECT_TRUE((*store)->perform(put("a")));
}

TEST_F(LocalStoreTest, WhatHasExpiredIsSweptWithItsMarks) {
  const auto store = open();
  ASSERT_TRUE(store);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*store)->perform(keep("old" + std::to_string(i), Millis{1})));
  }
  const TimePoint soon = BootClock::now() + Millis{5};
  while (BootClock::now() < soon) std::this_thread::yield();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE((*store)->perform(keep("new" + std::to_string(i), Millis{3'600'000})));
  }
  EXPECT_EQ(rows(), 4);
}

TEST_F(LocalStoreTest, ALateWriteToWhatWasSweptIsRefused) {
  const auto store = open();
  StoreRequest late = keep("k", Millis{1});
  ASSERT_TRUE((*store)->perform(late));
  const TimePoint soon = BootClock::now() + Millis{5};
  while (BootClock::now() < soon) std::this_thread::yield();
  ASSERT_TRUE((*store)->perform(keep("another", Millis{3'600'000})));
  std::get<WriteResource>(late.operation).opened = core::Opened::before;
  std::get<WriteResource>(late.operation).sequence = 2;
  const auto refused = (*store)->perform(late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::stale_token);
}

TEST_F(LocalStoreTest, WhatHasExpiredIsNotSweptFromUnderItsNextHolder) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform(keep("k", Millis{1})));
  const TimePoint soon = BootClock::now() + Millis{5};
  while (BootClock::now() < soon) std::this_thread::yield();
  ASSERT_TRUE((*store)->perform(opened("k", 2)));
  const auto nothing = (*store)->perform(
      {.space = Space::once,
       .key = "k",
       .operation = ReadResource{.holder = holder(2), .opened = core::Opened::before}});
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->entry);
  ASSERT_TRUE((*store)->perform(keep("another", Millis{3'600'000})));
  const auto written = (*store)->perform(write_next("k", 2, 1));
  EXPECT_TRUE(written) << written.error().message;
}

TEST_F(LocalStoreTest, WhatWasErasedForAWhileIsNotSweptFromUnderItsNextHolder) {
  const auto store = open();
  StoreRequest erase = keep("k", Millis{50});
  std::get<WriteResource>(erase.operation).value.reset();
  ASSERT_TRUE((*store)->perform(erase));
  ASSERT_TRUE((*store)->perform(opened("k", 2)));
  const TimePoint late = BootClock::now() + Millis{60};
  while (BootClock::now() < late) std::this_thread::yield();
  ASSERT_TRUE((*store)->perform(keep("another", Millis{3'600'000})));
  const auto written = (*store)->perform(write_next("k", 2, 1));
  EXPECT_TRUE(written) << written.error().message;
}

// It may expire after the open, too: what counts is what the holder has read.
TEST_F(LocalStoreTest, WhatExpiresBetweenOpenAndReadIsNotSwept) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform(keep("k", Millis{30})));
  ASSERT_TRUE((*store)->perform(opened("k", 2)));
  const StoreRequest read{
      .space = Space::once,
      .key = "k",
      .operation = ReadResource{.holder = holder(2), .opened = core::Opened::before}};
  const TimePoint late = BootClock::now() + Millis{10'000};
  while ((*store)->perform(read)->entry && BootClock::now() < late) std::this_thread::yield();
  ASSERT_FALSE((*store)->perform(read)->entry);
  const TimePoint soon = BootClock::now() + Millis{5};
  while (BootClock::now() < soon) std::this_thread::yield();
  ASSERT_TRUE((*store)->perform(keep("another", Millis{3'600'000})));
  const auto written = (*store)->perform(write_next("k", 2, 1));
  EXPECT_TRUE(written) << written.error().message;
}

// SQLite's numbers have a sign.
TEST_F(LocalStoreTest, AnOldSequenceIsOldWhateverTheLastOneWas) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform(opened("k", 1)));
  const auto huge = (*store)->perform(write_next("k", 1, std::uint64_t{1} << 63));
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, Errc::invalid_argument);
  EXPECT_FALSE((*store)->perform(write_next("k", 1, core::kSequenceMax + 1)));
  ASSERT_TRUE((*store)->perform(write_next("k", 1, core::kSequenceMax)));
  const auto old = (*store)->perform(write_next("k", 1, 1));
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, Errc::stale_token);
}

TEST_F(LocalStoreTest, ARebaseIsOnRecord) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform({.key = "r", .operation = OpenResource{.holder = holder(7)}}));
  ASSERT_TRUE((*store)->perform(
      {.key = "r", .operation = RebaseResource{.domain = "new#x", .why = "a \"reason\""}}));
  std::ifstream log{directory_.path() + "/audit.log"};
  const std::string line{std::istreambuf_iterator<char>{log}, {}};
  for (const char* part : {"\"action\":\"rebase\"",
                           "\"resource\":\"r\"",
                           "\"why\":\"a \\\"reason\\\"\"",
                           "\"to\":\"new#x\"",
                           "\"highest\":7"}) {
    EXPECT_NE(line.find(part), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace holdfast::local
