#include "base/dispatcher.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace holdfast {
namespace {

TEST(DispatcherTest, RunsTasksInOrderOnAThreadOfItsOwn) {
  Dispatcher dispatcher;
  std::string log;
  std::promise<std::thread::id> done;
  dispatcher.post([&] { log += 'a'; });
  dispatcher.post([&] { log += 'b'; });
  dispatcher.post([&] { done.set_value(std::this_thread::get_id()); });
  EXPECT_NE(done.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(log, "ab");
  EXPECT_FALSE(dispatcher.on_its_thread());
}

TEST(DispatcherTest, DestroyingItRunsWhatWasPosted) {
  int ran = 0;
  {
    Dispatcher dispatcher;
    for (int i = 0; i < 100; ++i) dispatcher.post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

TEST(DispatcherTest, ATaskMayDestroyItAndTheRestIsRun) {
  auto dispatcher = std::make_unique<Dispatcher>();
  std::promise<void> go;
  const auto own_thread = std::make_shared<std::promise<bool>>();
  const auto rest_ran = std::make_shared<std::promise<void>>();
  dispatcher->post([&dispatcher, own_thread, may_go = go.get_future().share()] {
    may_go.wait();
    own_thread->set_value(dispatcher->on_its_thread());
    dispatcher.reset();
  });
  dispatcher->post([rest_ran] { rest_ran->set_value(); });
  go.set_value();
  EXPECT_TRUE(own_thread->get_future().get());
  rest_ran->get_future().get();
}

}  // namespace
}  // namespace holdfast
