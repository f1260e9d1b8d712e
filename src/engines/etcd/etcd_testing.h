// For the tests of the etcd engine: processes that take locks at a model cluster.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/lease_session.h"
#include "engines/etcd/etcd_desk.h"
#include "engines/etcd/etcd_engine.h"
#include "sim/etcd/etcd_bed.h"

namespace holdfast::etcd::testing {

using namespace std::chrono_literals;

/// Counts what is asked, and can keep a transaction back.
class TestPort final : public EtcdPort {
 public:
  TestPort(sim::SimEnv& env, std::shared_ptr<EtcdPort> port) : env_{env}, port_{std::move(port)} {}

  void commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) override;
  void grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) override {
    ++grants;
    port_->grant(lease, ttl, answer_by, std::move(on_answer));
  }
  void keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) override {
    ++keep_alives;
    port_->keep_alive(lease, answer_by, std::move(on_answer));
  }
  void revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) override {
    ++revokes;
    port_->revoke(lease, answer_by, std::move(on_answer));
  }
  void look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) override {
    port_->look_up(lease, answer_by, std::move(on_answer));
  }
  WatchId watch(Watch watch, OnWatch on_watch) override;
  void unwatch(WatchId id) override {
    watching.erase(id);
    port_->unwatch(id);
  }

  /// Everything that is a request.
  int requests() const { return commits + grants + keep_alives + revokes; }

  int commits{0};
  int grants{0};
  int keep_alives{0};
  int revokes{0};
  std::map<WatchId, std::string> watching;
  /// No news comes through.
  bool deaf{false};
  /// The next transactions are not answered, and run so much later.
  int delay_next{0};
  Duration delay{0};

 private:
  sim::SimEnv& env_;
  std::shared_ptr<EtcdPort> port_;
};

/// One process, and what it was told.
class Locker {
 public:
  using Lease = core::LeaseSession::Lease;

  Locker(sim::EtcdBed& bed, Settings settings);

  struct Wish {
    std::string name{"ledger"};
    Millis ttl{10s};
    Millis wait{0};
    core::Claim claim{};
    LeaseKind kind{LeaseKind::session};
  };
  /// What becomes of an acquisition.
  struct Outcome {
    Lease lease;
    std::optional<core::LeaseSession::Detached> detached;
    std::optional<AcquireError> error;
    std::vector<LeaseEvent> events;
    std::stop_source stop;
    bool done() const { return lease || detached || error; }
  };

  std::shared_ptr<Outcome> begin(Wish wish);
  /// Runs the world until it is answered.
  std::shared_ptr<Outcome> acquire(Wish wish);
  ReleaseOutcome release(const Lease& lease);

  LeaseState state(const Lease& lease) const { return lease->state(process.env.now()); }
  LossReason reason(const Lease& lease) const { return lease->loss_reason(process.env.now()); }

  template <class T>
  T wait_for(Task<T> task) {
    auto value = std::make_shared<std::optional<T>>();
    process.env.spawn(put(std::move(task), value));
    EXPECT_TRUE(bed_.scheduler.run_until([&] { return value->has_value(); }, 5min));
    return **std::move(value);
  }
  TimePoint soon() const { return process.env.now() + 2s; }

  sim::EtcdBed::Process& process;
  std::shared_ptr<TestPort> port;
  std::shared_ptr<EtcdEngine> engine;
  std::shared_ptr<EtcdDesk> desk;
  std::shared_ptr<core::LeaseSession> session;

 private:
  template <class T>
  static Task<void> put(Task<T> task, std::shared_ptr<std::optional<T>> to) {
    T value = co_await std::move(task);
    *to = std::move(value);
  }
  static Task<void> take(std::shared_ptr<core::LeaseSession> session,
                         Wish wish,
                         TimePoint wait_until,
                         std::shared_ptr<Outcome> outcome);

  sim::EtcdBed& bed_;
};

class EtcdEngineTest : public ::testing::Test {
 protected:
  void advance(Duration duration) { bed_.scheduler.advance(duration); }
  bool run_until(const std::function<bool()>& done, Duration limit = 2min) {
    return bed_.scheduler.run_until(done, limit);
  }

  /// The contenders for a lock, the oldest first.
  std::vector<KeyValue> contenders(const std::string& name = "ledger");
  /// What another client does to the keys.
  void erase(const std::string& key);
  void put(const std::string& key, const std::string& value = "");

  Settings settings_{};
  sim::EtcdBed bed_{};
  sim::EtcdBed::Process& hand_{bed_.start()};
  Locker alice_{bed_, settings_};
  Locker bob_{bed_, settings_};
};

}  // namespace holdfast::etcd::testing
