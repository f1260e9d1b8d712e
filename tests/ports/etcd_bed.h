// The contract of EtcdPort, as redis_bed.h has it for Redis: one suite, on the model cluster of the
// simulator and on the real server alike.
//
// A bed gives a Port, and what a test does behind its back. Each bed's source instantiates the
// suite for itself: HOLDFAST_ETCD_PORT_ON(Server, make_etcd_server_bed). A server may be shared
// between tests: keys of a test begin with key(""), and revisions are compared, not counted.

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/env.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::ports {

/// Far longer than anything here takes. The time of the bed's Env.
inline constexpr std::chrono::seconds kEtcdBound{30};

class EtcdBed {
 public:
  virtual ~EtcdBed() = default;

  /// Used within on_env() alone.
  virtual etcd::EtcdPort& port() = 0;
  virtual Env& env() = 0;

  /// Runs `work` between tasks of the Env, and waits for it.
  virtual void on_env(const std::function<void()>& work) = 0;

  /// Lets time pass until `done`, asked between tasks of the Env again and again, says so. Whether
  /// it did within kEtcdBound.
  virtual bool go_on_until(const std::function<bool()>& done) = 0;

  /// An operator compacts the history: changes before `revision` are forgotten.
  virtual void compact(etcd::Revision revision) = 0;
};

using MakeEtcdBed = std::unique_ptr<EtcdBed> (*)();

/// Over a single etcd server with its default settings, which the beds share.
std::unique_ptr<EtcdBed> make_etcd_server_bed();

/// What a watch told so far, in order.
class EtcdEar {
 public:
  etcd::OnWatch on_watch() {
    return [news = news_](const etcd::WatchNews& heard) { news->push_back(heard); };
  }
  /// Looked at within on_env() and go_on_until() alone.
  std::deque<etcd::WatchNews>& news() { return *news_; }

 private:
  std::shared_ptr<std::deque<etcd::WatchNews>> news_{
      std::make_shared<std::deque<etcd::WatchNews>>()};
};

/// Calls of the Port that wait for their answers, and words to write transactions with.
class EtcdPortTest : public testing::TestWithParam<MakeEtcdBed> {
 protected:
  /// A key of this test alone.
  std::string key(const std::string& name) const { return prefix_ + name; }
  etcd::KeyRange all_keys() const { return etcd::starting_with(prefix_); }
  static etcd::LeaseId fresh_lease();

  Result<etcd::TxnAnswer> commit(etcd::Txn txn);
  /// The same where it must succeed.
  etcd::TxnAnswer run(etcd::Txn txn);
  /// Puts it, and says at which revision.
  etcd::Revision put(const std::string& name, const std::string& value, etcd::LeaseId lease = {});
  etcd::Revision erase(const std::string& name);
  std::optional<etcd::KeyValue> get(const std::string& name);
  std::vector<std::string> names(etcd::Range range);

  etcd::LeaseAnswer grant(etcd::LeaseId lease, etcd::Seconds ttl);
  etcd::LeaseAnswer keep_alive(etcd::LeaseId lease);
  etcd::LeaseAnswer revoke(etcd::LeaseId lease);
  etcd::LeaseAnswer look_up(etcd::LeaseId lease);

  etcd::WatchId watch(EtcdEar& ear, etcd::Watch watch);
  /// The next news of a watch. Fails the test when none comes.
  etcd::WatchNews next(EtcdEar& ear);
  /// The next change of a watch that has one at a time, such as "put a=1" or "erased a".
  std::string next_change(EtcdEar& ear);
  std::string shown(const etcd::Change& change) const;

  std::unique_ptr<EtcdBed> bed_ = GetParam()();

 private:
  using LeaseCall = void (etcd::EtcdPort::*)(etcd::LeaseId, TimePoint, etcd::OnLease);
  etcd::LeaseAnswer ask(LeaseCall call, etcd::LeaseId lease);
  etcd::LeaseAnswer await(const std::shared_ptr<std::optional<Result<etcd::LeaseAnswer>>>& answer);

  const std::string prefix_ = fresh_prefix();
  static std::string fresh_prefix();
};

#define HOLDFAST_ETCD_PORT_ON(bed, maker) \
  INSTANTIATE_TEST_SUITE_P(               \
      bed, EtcdPortTest, testing::Values(&maker), [](const auto&) { return std::string{#bed}; })

}  // namespace holdfast::ports
