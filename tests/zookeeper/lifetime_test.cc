// Sessions and drivers that go while something is under way.

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "tests/zookeeper/driver_bed.h"
#include "tests/zookeeper/shared_server.h"

namespace holdfast::zookeeper {
namespace {

const SessionAsk kAsk{.timeout = Millis{20'000}};

using servers::open_descriptors;
using servers::Witness;

class ZookeeperLifetimeTest : public testing::Test {
 protected:
  /// A hundred requests, each with a callback that shares in the witness.
  template <class OnCall>
  void call_often(ZookeeperSession& session, OnCall on_call) {
    const TimePoint by = bed_.env().now() + kBound;
    for (int i = 0; i < 100; ++i) {
      session.send(share(Exists{"/k", Watching::yes}), by, on_call);
    }
  }

  DriverBed bed_{target_of(shared_server())};
};

TEST_F(ZookeeperLifetimeTest, CallbacksAreDroppedAndNotCalled) {
  for (const bool is_connected : {false, true}) {
    BedSession session{bed_, kAsk};
    if (is_connected) session.next(SessionEvent::Kind::connected);
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

TEST_F(ZookeeperLifetimeTest, AnAnswerMayDropItsSession) {
  BedSession session{bed_, kAsk};
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

TEST_F(ZookeeperLifetimeTest, AnEventMayDropItsSession) {
  std::promise<void> dropped;
  std::unique_ptr<ZookeeperSession> session;
  bed_.on_env([&] {
    session = bed_.driver()->open(kAsk, [&](const SessionEvent&) {
      session.reset();
      dropped.set_value();
    });
  });
  get(dropped.get_future());
}

TEST_F(ZookeeperLifetimeTest, AnAnswerMayCloseItsSession) {
  BedSession session{bed_, kAsk};
  std::promise<void> closed;
  bed_.on_env([&] {
    session.session()->send(share(Read{"/"}), bed_.env().now() + kBound, [&](const auto&) {
      session.session()->close();
      session.session().reset();
      closed.set_value();
    });
  });
  get(closed.get_future());
}

TEST_F(ZookeeperLifetimeTest, SessionsMayGoBeforeTheyAreConnected) {
  for (int i = 0; i < 20; ++i) {
    BedSession session{bed_, kAsk};
    if (i % 2 == 0) session.send(Read{"/"});
    if (i % 3 == 0) bed_.on_env([&] { session.session()->close(); });
  }
}

// The Env unwinds what is left.
TEST_F(ZookeeperLifetimeTest, TheEnvMayGoWithEverythingUnderWay) {
  for (int i = 0; i < 20; ++i) {
    auto env = *runtime::AsioEnv::create();
    auto witness = std::make_shared<Witness>();
    auto gone = witness->gone.get_future();
    // As a task that waits for an answer, which keeps the session that is to bring it.
    struct Circle {
      std::unique_ptr<ZookeeperDriver> driver;
      std::unique_ptr<ZookeeperSession> session;
    };
    auto circle = std::make_shared<Circle>();
    circle->driver = std::make_unique<ZookeeperDriver>(*env, target_of(shared_server()));
    // Nothing else keeps it.
    env->post([&running = *env, circle = std::move(circle), witness] {
      circle->session = circle->driver->open(kAsk, [](const SessionEvent&) {});
      circle->session->send(
          share(Read{"/"}), running.now() + kBound, [circle, witness](const auto&) {});
    });
    witness.reset();
    env.reset();
    get(std::move(gone));
  }
}

TEST_F(ZookeeperLifetimeTest, NoDescriptorIsLeft) {
  const auto come_and_go = [this] {
    for (int i = 0; i < 10; ++i) {
      BedSession session{bed_, kAsk};
      EXPECT_TRUE(session.ask(Read{"/"}));
      if (i % 2 == 0) bed_.on_env([&] { session.session()->close(); });
    }
  };
  come_and_go();
  const auto before = open_descriptors();
  for (int i = 0; i < 5; ++i) come_and_go();
  // Closed sessions wait a moment for the server's good-bye.
  const TimePoint end = BootClock::now() + kBound;
  while (open_descriptors() > before && BootClock::now() < end) poll(nullptr, 0, 10);
  EXPECT_LE(open_descriptors(), before);
}

TEST_F(ZookeeperLifetimeTest, NothingIsWrittenToStandardError) {
  testing::internal::CaptureStderr();
  {
    DriverBed nobody{target_at(free_port())};
    BedSession fails{nobody, kAsk};
    EXPECT_FALSE(fails.ask(Read{"/"}, std::chrono::milliseconds{100}));
    BedSession session{bed_, kAsk};
    EXPECT_TRUE(session.ask(Read{"/"}));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace holdfast::zookeeper
