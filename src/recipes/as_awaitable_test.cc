#include "recipes/as_awaitable.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>

#include "recipes/gathering.h"

namespace holdfast::recipes {
namespace {

namespace asio = boost::asio;

Task<std::unique_ptr<int>> boxed(int number) { co_return std::make_unique<int>(number); }

asio::awaitable<void> add_up(int times, int& sum) {
  for (int i = 0; i < times; ++i) {
    const auto box = co_await as_awaitable(boxed(i));
    sum += *box;
  }
}

TEST(AsAwaitableTest, TasksThatNeedNotWaitMayBeAwaitedWithoutEnd) {
  asio::io_context context;
  int sum = 0;
  asio::co_spawn(context, add_up(20'000, sum), asio::detached);
  context.run();
  EXPECT_EQ(sum, 199'990'000);
}

Task<int> met_by(std::shared_ptr<Gathering> gathering, std::shared_ptr<int> kept) {
  co_await gathering->all_here();
  co_return *kept;
}

asio::awaitable<void> await_meeting(std::shared_ptr<Gathering> gathering,
                                    std::shared_ptr<int> kept,
                                    int& found) {
  found = co_await as_awaitable(met_by(std::move(gathering), std::move(kept)));
}

TEST(AsAwaitableTest, TheContextRunsOnWhileATaskWaitsForAnotherThread) {
  asio::io_context context;
  const auto gathering = std::make_shared<Gathering>(1);
  int found = 0;
  asio::co_spawn(
      context, await_meeting(gathering, std::make_shared<int>(7), found), asio::detached);
  context.poll();
  const std::jthread other{[gathering] { gathering->arrive(); }};
  context.run();
  EXPECT_EQ(found, 7);
}

TEST(AsAwaitableTest, WhatIsReadyWhenTheContextGoesIsUnwound) {
  const auto kept = std::make_shared<int>(7);
  int found = 0;
  {
    asio::io_context context;
    const auto gathering = std::make_shared<Gathering>(1);
    asio::co_spawn(context, await_meeting(gathering, kept, found), asio::detached);
    context.poll();
    gathering->arrive();
  }
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(found, 0);
}

}  // namespace
}  // namespace holdfast::recipes
