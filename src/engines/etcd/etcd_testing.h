// For the tests of the etcd engine: processes that take locks at a model cluster.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/etcd/etcd_desk.h"
#include "engines/etcd/etcd_engine.h"
#include "sim/etcd/etcd_bed.h"
#include "sim/world/locker.h"

namespace holdfast::etcd::testing {

using namespace std::chrono_literals;

/// Counts what is asked, and can keep a transaction back.
class TestPort final : public EtcdPort {
 public:
  TestPort(sim::SimEnv& env, std::shared_ptr<EtcdPort> port) : env_{env}, port_{std::move(port)} {}

  void commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) override;
  void grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) override {
    ++grants;
    asked_for.push_back(lease);
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
  /// Every lease that was to be granted.
  std::vector<LeaseId> asked_for;
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

struct EtcdKit {
  using Bed = sim::EtcdBed;
  using Port = TestPort;
  using Engine = EtcdEngine;
  using Desk = EtcdDesk;
  using Settings = etcd::Settings;
};
using Locker = sim::Locker<EtcdKit>;

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
