// Who has the local store open, and who lets go of it: threads, callbacks and forked children.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "engines/local/local_store_testing.h"

namespace holdfast::local {
namespace {

using LocalStoreLifetimeTest = LocalStoreTest;

// The thread that runs what was posted may be the one that lets go of the store.
TEST_F(LocalStoreLifetimeTest, WhatWasPostedIsDoneThoughACallbackHeldTheStoreLast) {
  auto store = *open();
  ASSERT_TRUE(store->perform(put("a")));
  std::latch begin{1};
  std::promise<std::string> found;
  store->async_perform(get(), [&](const StoreResult&) { begin.wait(); });
  store->async_perform(get(), [store](const StoreResult&) {});
  store->async_perform(get(),
                       [&](const StoreResult& reply) { found.set_value(reply->entry->value); });
  store.reset();
  begin.count_down();
  EXPECT_EQ(found.get_future().get(), "a");
}

TEST_F(LocalStoreLifetimeTest, AForkedChildMustConnectAnew) {
  const auto store = open();
  ASSERT_TRUE((*store)->perform(put("a")));
  const pid_t child = fork();
  if (child == 0) {
    const auto reply = (*store)->perform(get());
    Errc later{};
    (*store)->async_perform(get(), [&](const StoreResult& none) { later = none.error().code; });
    const bool refused = !reply && reply.error().code == Errc::shutting_down;
    _exit(refused && later == Errc::shutting_down ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE((*store)->perform(put("b")));
}

// The child's locks are its own: when the parent goes, the file is not taken from under it.
TEST_F(LocalStoreLifetimeTest, WhatAForkedChildWritesIsNotLost) {
  auto store = open();
  ASSERT_TRUE((*store)->perform(put("parent's")));
  std::array<int, 2> connected{};
  std::array<int, 2> alone{};
  ASSERT_EQ(pipe(connected.data()) + pipe(alone.data()), 0);
  char signal = 0;
  const pid_t child = fork();
  if (child == 0) {
    const auto own = open();
    if (!own || !(*own)->perform(put("child's first"))) _exit(1);
    if (::write(connected[1], "x", 1) != 1 || ::read(alone[0], &signal, 1) != 1) _exit(2);
    _exit((*own)->perform(put("child's")) ? 0 : 3);
  }
  ASSERT_EQ(::read(connected[0], &signal, 1), 1);
  EXPECT_EQ((*store)->perform(get())->entry->value, "child's first");
  store->reset();
  ASSERT_EQ(::write(alone[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ((*open())->perform(get())->entry->value, "child's");
  for (const int fd : {connected[0], connected[1], alone[0], alone[1]}) close(fd);
}

TEST_F(LocalStoreLifetimeTest, AProcessForksBetweenOperations) {
  const auto store = open();
  std::atomic<bool> enough{false};
  std::thread busy{[&] {
    while (!enough) EXPECT_TRUE((*store)->perform(put(std::string(50'000, 'v'), "busy")));
  }};
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto own = open({.sync = Sync::off, .timeout = Millis{10'000}});
      _exit(own && (*own)->perform(put(std::to_string(round))) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << round;
    EXPECT_EQ((*store)->perform(get())->entry->value, std::to_string(round));
  }
  enough = true;
  busy.join();
}

}  // namespace
}  // namespace holdfast::local
