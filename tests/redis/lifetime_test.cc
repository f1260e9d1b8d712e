// Drivers that go while something is under way.

#include <gtest/gtest.h>

#include "tests/ports/redis_process.h"
#include "tests/redis/driver_bed.h"

namespace holdfast::redis {
namespace {

using ports::free_port;
using ports::RedisProcess;

/// Tells when the last copy of it goes.
struct Witness {
  std::promise<void> gone;
  ~Witness() { gone.set_value(); }
};

class LifetimeTest : public testing::Test {
 protected:
  static SharedCall call() { return share({.script = &kEcho, .keys = {}, .args = {"x"}}); }

  RedisProcess server_;
  DriverBed bed_{{.socket_path = server_.socket()}};
};

TEST_F(LifetimeTest, CallbacksAreDroppedAndNotCalled) {
  ASSERT_TRUE(get(bed_.echo("connected")));
  server_.pause();
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  bool called = false;
  bed_.on_env([&] {
    for (int i = 0; i < 100; ++i) {
      bed_.driver()->send(
          call(), bed_.env().now() + kBound, [&called, witness](const auto&) { called = true; });
    }
    bed_.driver()->subscribe("c", [&called, witness](const Heard&) { called = true; });
    witness.reset();
    bed_.driver().reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_FALSE(called); });
  server_.resume();
}

TEST_F(LifetimeTest, AnAnswerMayDropTheDriver) {
  ASSERT_TRUE(get(bed_.echo("connected")));
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  int called = 0;
  bed_.on_env([&] {
    for (int i = 0; i < 100; ++i) {
      bed_.driver()->send(call(), bed_.env().now() + kBound, [this, &called, witness](const auto&) {
        ++called;
        bed_.driver().reset();
      });
    }
    witness.reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_EQ(called, 1); });
}

TEST_F(LifetimeTest, AnInterruptionMayDropTheDriver) {
  ASSERT_TRUE(get(bed_.echo("connected")));
  server_.pause();
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  int called = 0;
  bed_.on_env([&] {
    for (int i = 0; i < 100; ++i) {
      bed_.driver()->send(call(), bed_.env().now() + kBound, [this, &called, witness](const auto&) {
        ++called;
        bed_.driver().reset();
      });
    }
    witness.reset();
  });
  server_.kill();
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_EQ(called, 1); });
}

TEST_F(LifetimeTest, ADeadlineMayDropTheDriver) {
  ASSERT_TRUE(get(bed_.echo("connected")));
  server_.pause();
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  int called = 0;
  bed_.on_env([&] {
    for (int i = 0; i < 100; ++i) {
      bed_.driver()->send(call(),
                          bed_.env().now() + std::chrono::milliseconds{20},
                          [this, &called, witness](const auto&) {
                            ++called;
                            bed_.driver().reset();
                          });
    }
    witness.reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_EQ(called, 1); });
}

TEST_F(LifetimeTest, AMessageMayDropTheDriver) {
  Ear ear;
  DriverBed other{{.socket_path = server_.socket()}};
  std::promise<void> heard;
  bed_.on_env([&] {
    bed_.driver()->subscribe("c", [&](const Heard& what) {
      if (what.kind == Heard::Kind::listening) return;
      bed_.driver().reset();
      heard.set_value();
    });
  });
  ASSERT_TRUE(eventually([&] {
    return get(other.command({"PUBLISH", "c", "x"})).value() == Reply::of_integer(1);
  }));
  get(heard.get_future());
}

TEST_F(LifetimeTest, ADriverThatConnectsMayGo) {
  const std::uint16_t port = free_port();
  RedisProcess server{{"--port", std::to_string(port)}};
  for (const char* host : {"127.0.0.1", "localhost"}) {
    for (int i = 0; i < 20; ++i) {
      DriverBed bed{{.host = host, .port = port}};
      bed.on_env([&] { bed.driver()->connect(); });
    }
  }
}

Task<void> eval_for_ever(std::shared_ptr<RedisDriver> driver,
                         TimePoint answer_by,
                         std::shared_ptr<Witness> witness) {
  const SharedCall call = share({.script = &kEcho, .keys = {}, .args = {"x"}});
  for (;;) {
    const auto reply = co_await driver->eval(call, answer_by);
    EXPECT_TRUE(reply) << witness.use_count();
  }
}

// The tasks own the driver, and the Env owns the tasks.
TEST(EnvLifetimeTest, AnEnvMayGoWithItsDriversAndTasks) {
  RedisProcess server;
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  auto env = *runtime::AsioEnv::create();
  auto driver = *RedisDriver::create(*env, {.socket_path = server.socket()});
  for (int i = 0; i < 10; ++i) env->spawn(eval_for_ever(driver, env->now() + kBound, witness));
  std::promise<void> subscribed;
  env->post([&, driver] {
    driver->subscribe("c", [&subscribed](const Heard&) { subscribed.set_value(); });
  });
  get(subscribed.get_future());
  driver.reset();
  witness.reset();
  env.reset();
  get(std::move(gone));
}

TEST(EnvLifetimeTest, ADriverMayGoOnAnyThread) {
  RedisProcess server;
  const auto env = *runtime::AsioEnv::create();
  for (int i = 0; i < 50; ++i) {
    auto driver = *RedisDriver::create(*env, {.socket_path = server.socket()});
    std::promise<void> answered;
    env->post([&env, &answered, port = driver.get()] {
      port->command({"PING"}, env->now() + kBound, [&](const auto&) { answered.set_value(); });
    });
    get(answered.get_future());
    driver.reset();
  }
}

}  // namespace
}  // namespace holdfast::redis
