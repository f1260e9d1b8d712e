// What is the local store's own: its file, its limits, its neighbours. The rules of every store are
// in tests/contract.

#include "engines/local/local_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "engines/local/test_directory.h"

namespace holdfast::local {
namespace {

class LocalStoreTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<StoreBackend>> open(const StoreSettings& settings = {.sync = Sync::off}) {
    return LocalStore::open(directory_.path(), settings);
  }

  static core::Holder holder(std::uint64_t token) {
    return {.domain = "a lock with a name that is too long for small strings#x",
            .mode = Mode::exclusive,
            .token = Token{token},
            .owner_fp = "an owner with a long name, too"};
  }

  static StoreRequest put(std::string value, std::string key = "k") {
    return {.key = std::move(key), .operation = PutKey{.value = std::move(value)}};
  }
  static StoreRequest get(std::string key = "k") {
    return {.key = std::move(key), .operation = GetKey{}};
  }
  static StoreRequest keep(std::string key, Millis time) {
    return {.space = Space::once,
            .key = std::move(key),
            .operation = WriteResource{.holder = holder(1), .value = "result", .keep = time}};
  }

  std::string path() const { return directory_.path() + "/store.db"; }
  std::string contents() const {
    std::ifstream file{path(), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void overwrite(const std::string& bytes) const {
    std::ofstream{path(), std::ios::binary | std::ios::trunc} << bytes;
  }
  std::int64_t rows() const {
    auto database = Database::open(path(), Millis{1000});
    auto statement = Statement::prepare(**database, "SELECT count(*) FROM entry");
    return statement->step() ? statement->integer(0) : -1;
  }

  TestDirectory directory_;
};

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

TEST_F(LocalStoreTest, AForkedChildMustConnectAnew) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform(put("a")));
  const pid_t child = fork();
  if (child == 0) {
    const auto reply = (*store)->perform(get());
    _exit(!reply && reply.error().code == Errc::shutting_down ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE((*store)->perform(put("b")));
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
