// FaultyPort: a ZookeeperPort to a model tree that loses what the test tells it to lose.

#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "base/env.h"
#include "engines/zookeeper/zookeeper_port.h"
#include "sim/zookeeper/zookeeper_tree.h"
#include "tests/marked_store/fault.h"

namespace holdfast::zookeeper_store {

using marked_store::Fate;
using marked_store::Fault;

/// One server for all ports of a test. Thread safety: under its mutex.
struct Server {
  std::mutex mutex;
  sim::ZookeeperTree tree;
  zookeeper::Zxid zxid{100};
  /// By its wall clock.
  Millis time{1'800'000'000'000};

  zookeeper::Answer serve(const zookeeper::Request& request);
};

/// Its sessions live for ever, and watch nothing: no store asks for it.
/// Thread safety: any thread; Env and server outlive it.
class FaultyPort final : public zookeeper::ZookeeperPort {
 public:
  FaultyPort(Env& env, Server& server) : env_{env}, server_{server} {}

  std::unique_ptr<zookeeper::ZookeeperSession> open(zookeeper::SessionAsk ask,
                                                    zookeeper::OnEvent on_event) override;

  /// For the next transactions that change a key, one each. Those that only look are answered.
  void expect(std::vector<Fault> faults);
  /// For all others, and for those that look.
  void always(Fate fate);
  /// What was delayed arrives: whether it was done. Nobody is told.
  bool deliver();
  /// How often a key was read or changed.
  int sent() const;
  /// How many sessions there were.
  int sessions() const;
  /// Tells the present session that it is over.
  void expire();

 private:
  class Session;

  Fault next_fate(const zookeeper::Request& request);
  Result<zookeeper::Answer> meet(const zookeeper::SharedRequest& request, Fate fate);

  Env& env_;
  Server& server_;
  mutable std::mutex mutex_;
  std::deque<Fault> faults_;
  Fate usual_{Fate::answered};
  std::deque<zookeeper::SharedRequest> delayed_;
  zookeeper::OnEvent on_event_;
  int sent_{0};
  int sessions_{0};
};

}  // namespace holdfast::zookeeper_store
