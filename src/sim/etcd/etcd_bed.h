// EtcdBed: a model cluster, the network to it and processes that use it, for tests of what runs
// over EtcdPort.
//
//     EtcdBed bed;
//     EtcdBed::Process& alice = bed.start();
//     MyEngine engine{alice.env, alice.port};
//     bed.scheduler.advance(10s);

#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "sim/etcd/sim_etcd_port.h"

namespace holdfast::sim {

/// Thread safety: none.
struct EtcdBed {
  struct Process {
    Process(EtcdBed& bed, std::uint64_t seed)
        : host{bed.network.add_host()},
          env{bed.scheduler, seed},
          port{std::make_shared<SimEtcdPort>(
              env, bed.network, bed.cluster, EtcdEnds{host, bed.member_hosts})} {}

    HostId host;
    SimEnv env;
    std::shared_ptr<SimEtcdPort> port;
  };

  explicit EtcdBed(std::size_t members = 3) : cluster{scheduler, members, 2} {
    for (std::size_t i = 0; i < members; ++i) member_hosts.push_back(network.add_host());
  }
  ~EtcdBed() { scheduler.clear(); }
  EtcdBed(const EtcdBed&) = delete;
  EtcdBed& operator=(const EtcdBed&) = delete;

  Process& start() {
    processes.push_back(std::make_unique<Process>(*this, 100 + processes.size()));
    return *processes.back();
  }

  /// Neither hears the other until reconnect().
  void cut_off(const Process& process) { block(process, 1); }
  void reconnect(const Process& process) { block(process, -1); }

  void lose_next_replies(const Process& process, int count) {
    for (const HostId member : member_hosts) network.way(member, process.host).lose_next = count;
  }

  Result<etcd::TxnAnswer> commit(Process& process,
                                 etcd::Txn txn,
                                 Duration patience = std::chrono::seconds{5}) {
    return ask<etcd::TxnAnswer>(process, [&](auto on_answer) {
      process.port->commit(etcd::share(std::move(txn)), process.env.now() + patience, on_answer);
    });
  }

  /// `call` begins a request of the process with the callback it is given. Runs the world until the
  /// answer is there.
  template <class Answer, class Call>
  Result<Answer> ask(Process& process, const Call& call) {
    auto answer = std::make_shared<std::optional<Result<Answer>>>();
    process.env.post([&call, answer] {
      call([answer](Result<Answer> given) { answer->emplace(std::move(given)); });
    });
    const bool answered = scheduler.run_until([&] { return answer->has_value(); }, kHang);
    HOLDFAST_ASSERT(answered);
    return **std::move(answer);
  }

  Scheduler scheduler;
  Trace trace;
  Network network{scheduler, trace, 1};
  EtcdCluster cluster;
  std::vector<HostId> member_hosts;
  std::vector<std::unique_ptr<Process>> processes;

 private:
  static constexpr Duration kHang = std::chrono::minutes{5};

  void block(const Process& process, int more) {
    for (const HostId member : member_hosts) {
      network.way(process.host, member).blocked += more;
      network.way(member, process.host).blocked += more;
    }
  }
};

}  // namespace holdfast::sim
