// Sessions and drivers that go while something is under way.

#include <gtest/gtest.h>

#include <thread>

#include "tests/postgres/driver_bed.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::postgres {
namespace {

using Kind = SessionEvent::Kind;

using servers::open_descriptors;
using servers::Witness;

class PostgresLifetimeTest : public testing::Test {
 protected:
  /// A hundred statements, each with a callback that shares in the witness.
  template <class Way, class OnCall>
  void call_often(Way& way, OnCall on_call) {
    const TimePoint by = bed_.env().now() + kBound;
    for (int i = 0; i < 100; ++i) way.send(plain("SELECT 1"), by, on_call);
  }

  DriverBed bed_{shared_server().url()};
};

TEST_F(PostgresLifetimeTest, CallbacksAreDroppedAndNotCalled) {
  for (const bool is_connected : {false, true}) {
    BedSession session{bed_};
    if (is_connected) session.next(Kind::connected);
    auto witness = std::make_shared<Witness>();
    auto gone = witness->gone.get_future();
    bool called = false;
    bed_.on_env([&] {
      call_often(*session.session(), [&called, witness](const auto&) { called = true; });
      witness.reset();
      session.session().reset();
    });
    get(std::move(gone));
    bed_.on_env([&] { EXPECT_FALSE(called); });
  }
}

TEST_F(PostgresLifetimeTest, AnAnswerMayDropItsSession) {
  BedSession session{bed_};
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  int called = 0;
  bed_.on_env([&] {
    call_often(*session.session(), [&, witness](const auto&) {
      ++called;
      session.session().reset();
    });
    witness.reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_EQ(called, 1); });
}

TEST_F(PostgresLifetimeTest, AnAnswerMayDropTheDriver) {
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  int called = 0;
  bed_.on_env([&] {
    call_often(*bed_.driver(), [&, witness](const auto&) {
      ++called;
      bed_.driver().reset();
    });
    witness.reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_EQ(called, 1); });
}

TEST_F(PostgresLifetimeTest, AnEventMayDropItsSession) {
  for (const char* host : {"", "/nowhere"}) {
    DriverBed bed{*host == '\0' ? shared_server().url() : "postgres:///x?host=/nowhere"};
    std::promise<void> dropped;
    std::unique_ptr<PostgresSession> session;
    bed.on_env([&] {
      session = bed.driver()->open(bed.env().now() + kBound, [&](const SessionEvent&) {
        session.reset();
        dropped.set_value();
      });
    });
    get(dropped.get_future());
  }
}

TEST_F(PostgresLifetimeTest, SessionsMayGoBeforeTheyAreConnected) {
  for (int i = 0; i < 20; ++i) {
    BedSession session{bed_};
    if (i % 2 == 0) session.send(plain("SELECT 1"));
  }
}

TEST_F(PostgresLifetimeTest, NoDescriptorIsLeft) {
  ASSERT_TRUE(bed_.ask("SELECT 1"));
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    BedSession session{bed_};
    session.next(Kind::connected);
    DriverBed nowhere{"postgres://127.0.0.1:" + std::to_string(free_port())};
    EXPECT_FALSE(nowhere.ask(plain("SELECT 1"), std::chrono::milliseconds{50}));
  }
  EXPECT_EQ(open_descriptors(), before);
}

// The Env unwinds what is left.
TEST_F(PostgresLifetimeTest, TheEnvMayGoWithEverythingUnderWay) {
  // As a task that waits for an answer, which keeps the session that is to bring it.
  struct Circle {
    std::shared_ptr<PostgresDriver> driver;
    std::unique_ptr<PostgresSession> session;
    std::shared_ptr<Witness> witness{std::make_shared<Witness>()};
  };
  for (int i = 0; i < 20; ++i) {
    auto env = *runtime::AsioEnv::create();
    auto circle = std::make_shared<Circle>();
    auto gone = circle->witness->gone.get_future();
    std::promise<void> begun;
    env->post([&, i] {
      circle->driver = *PostgresDriver::create(*env, target_of(shared_server().url()));
      const TimePoint by = env->now() + kBound;
      circle->session = circle->driver->open(by, [circle](const SessionEvent&) {});
      circle->session->send(plain("SELECT pg_sleep(5)"), by, [circle](const auto&) {});
      circle->driver->send(plain("SELECT pg_sleep(5)"), by, [circle](const auto&) {});
      circle.reset();
      begun.set_value();
    });
    get(begun.get_future());
    for (int turn = 0; turn < i * 20; ++turn) std::this_thread::yield();
    env.reset();
    get(std::move(gone));
  }
}

}  // namespace
}  // namespace holdfast::postgres
