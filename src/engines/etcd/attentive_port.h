// AttentivePort: a port that tells when the cluster was put back to an earlier state.
//
// Thread safety: as Env. Lifetime: calls under way keep it alive.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/env.h"
#include "engines/etcd/etcd_port.h"
#include "engines/etcd/timeline.h"

namespace holdfast::etcd {

class AttentivePort final : public EtcdPort, public std::enable_shared_from_this<AttentivePort> {
 public:
  struct Terms {
    /// How long a look at a member that seems to be behind may take.
    Millis patience;
    /// A key that may be read.
    std::string key;
  };

  /// `on_back` is called before the answer that shows it is handed over. It may be empty.
  AttentivePort(Env& env,
                std::shared_ptr<EtcdPort> port,
                Terms terms,
                std::function<void()> on_back)
      : env_{env}, port_{std::move(port)}, terms_{std::move(terms)}, on_back_{std::move(on_back)} {}

  void commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) override;
  void grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) override;
  void keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) override;
  void revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) override;
  void look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) override;
  WatchId watch(Watch watch, OnWatch on_watch) override;
  void unwatch(WatchId id) override;

 private:
  OnLease noting(OnLease on_answer);
  void heed(Timeline::Course course) const;

  Env& env_;
  std::shared_ptr<EtcdPort> port_;
  Terms terms_;
  std::function<void()> on_back_;
  Timeline timeline_;
};

}  // namespace holdfast::etcd
