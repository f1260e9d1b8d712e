// Drivers that go while something is under way.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/etcd/driver_bed.h"

namespace holdfast::etcd {
namespace {

/// Tells when the last copy of it goes.
struct Witness {
  std::promise<void> gone;
  ~Witness() { gone.set_value(); }
};

class EtcdLifetimeTest : public testing::Test {
 protected:
  EtcdLifetimeTest() { EXPECT_TRUE(get(bed_.put("k", "v"))); }

  static SharedTxn txn() { return share({.then = {Put{"k", "v"}}}); }
  /// A hundred of every call, each with a callback that shares in the witness.
  template <class OnCall>
  void call_everything(OnCall on_call) {
    const TimePoint by = bed_.env().now() + kBound;
    for (int i = 0; i < 100; ++i) {
      bed_.driver()->commit(txn(), by, on_call);
      bed_.driver()->keep_alive({1}, by, on_call);
      bed_.driver()->watch({.keys = {"k"}}, on_call);
    }
  }

  EtcdCluster cluster_;
  DriverBed bed_{target_of(cluster_)};
};

TEST_F(EtcdLifetimeTest, CallbacksAreDroppedAndNotCalled) {
  cluster_.node(0).pause();
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  bool called = false;
  bed_.on_env([&] {
    call_everything([&called, witness](const auto&) { called = true; });
    witness.reset();
    bed_.driver().reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_FALSE(called); });
  cluster_.node(0).resume();
}

TEST_F(EtcdLifetimeTest, AnAnswerMayDropTheDriver) {
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  int called = 0;
  bed_.on_env([&] {
    call_everything([this, &called, witness](const auto&) {
      ++called;
      bed_.driver().reset();
    });
    witness.reset();
  });
  get(std::move(gone));
  bed_.on_env([&] { EXPECT_EQ(called, 1); });
}

TEST_F(EtcdLifetimeTest, ADriverMayGoOnAnotherThread) {
  auto witness = std::make_shared<Witness>();
  auto gone = witness->gone.get_future();
  std::shared_ptr<EtcdDriver> driver;
  bed_.on_env([&] {
    call_everything([witness](const auto&) {});
    driver = std::move(bed_.driver());
  });
  witness.reset();
  std::thread{[&] { driver.reset(); }}.join();
  get(std::move(gone));
}

TEST_F(EtcdLifetimeTest, ADriverMayGoBeforeItIsConnected) {
  for (int i = 0; i < 20; ++i) {
    DriverBed bed{target_of(cluster_)};
    if (i % 2 == 0) bed.put("k", "v");
  }
}

// The Env unwinds what is left.
TEST_F(EtcdLifetimeTest, TheEnvMayGoRightAfterTheDriver) {
  for (int i = 0; i < 20; ++i) {
    auto env = *runtime::AsioEnv::create();
    auto driver = *EtcdDriver::create(*env, target_of(cluster_));
    auto witness = std::make_shared<Witness>();
    auto gone = witness->gone.get_future();
    env->post([&running = *env, driver, witness] {
      driver->commit(txn(), running.now() + kBound, [witness](const auto&) {});
      driver->watch({.keys = {"k"}}, [witness](const auto&) {});
    });
    witness.reset();
    driver.reset();
    env.reset();
    get(std::move(gone));
  }
}

TEST_F(EtcdLifetimeTest, AWatchMayEndItselfAndOthers) {
  Ear ear;
  WatchId first;
  WatchId second;
  bed_.on_env([&] {
    first = bed_.driver()->watch({.keys = {"a"}}, [&](const WatchNews& news) {
      if (news.kind != WatchNews::Kind::changes) return;
      bed_.driver()->unwatch(second);
      bed_.driver()->unwatch(first);
      bed_.driver()->watch({.keys = {"a"}, .from = news.header.revision}, ear.on_watch());
    });
    second = bed_.driver()->watch({.keys = {"b"}}, [](const WatchNews&) {});
  });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(get(bed_.put("a", std::to_string(i))));
  EXPECT_EQ(ear.next(), "watching");
}

}  // namespace
}  // namespace holdfast::etcd
