#include "core/outbox.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "runtime/asio_env.h"

namespace holdfast::core {
namespace {

class OutboxTest : public testing::Test {
 protected:
  /// Runs the step in the Env, and ends when everything it brought about has been run there.
  void run(std::function<void()> step) {
    env_->post(std::move(step));
    std::promise<void> over;
    env_->post([&] { env_->post([&] { over.set_value(); }); });
    over.get_future().get();
  }

  /// What has been told by now.
  std::string told() {
    std::promise<std::string> words;
    dispatcher_.post([&] { words.set_value(told_); });
    return words.get_future().get();
  }

  /// A message that writes its word down.
  std::function<void()> word(std::string text) {
    return [this, text = std::move(text)] {
      EXPECT_TRUE(dispatcher_.on_its_thread());
      told_ += text;
    };
  }

  Dispatcher dispatcher_;
  std::unique_ptr<Env> env_{*runtime::AsioEnv::create()};
  std::shared_ptr<Outbox> outbox_{std::make_shared<Outbox>(*env_, dispatcher_)};
  /// Of the dispatcher's thread.
  std::string told_;
};

TEST_F(OutboxTest, MessagesAreToldInOrderOnTheDispatchersThread) {
  run([this] {
    outbox_->put(word("a"));
    outbox_->put(word("b"));
  });
  run([this] { outbox_->put(word("c")); });
  EXPECT_EQ(told(), "abc");
}

TEST_F(OutboxTest, ManyMessagesAreToldWhileMoreCome) {
  run([this] {
    for (std::size_t i = 0; i < Outbox::kTogether; ++i) outbox_->put(word("a"));
    outbox_->put(word("b"));
    EXPECT_EQ(told(), std::string(Outbox::kTogether, 'a'));
  });
  EXPECT_TRUE(told().ends_with("ab"));
}

TEST_F(OutboxTest, NothingIsToldBeforeTheStepIsOver) {
  run([this] {
    outbox_->put(word("a"));
    EXPECT_EQ(told(), "");
    outbox_->put(word("b"));
  });
  EXPECT_EQ(told(), "ab");
}

TEST_F(OutboxTest, NothingIsLeftToTellTwice) {
  run([this] { outbox_->put(word("a")); });
  outbox_->flush();
  EXPECT_EQ(told(), "a");
}

}  // namespace
}  // namespace holdfast::core
