// ZookeeperBed: a model ensemble, the network to it and processes that use it, for tests of what
// runs over ZookeeperPort.
//
//     ZookeeperBed bed;
//     ZookeeperBed::Process& alice = bed.start();
//     MyEngine engine{alice.env, alice.port};
//     bed.scheduler.advance(10s);

#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "sim/zookeeper/sim_zookeeper_port.h"

namespace holdfast::sim {

/// Thread safety: none.
struct ZookeeperBed {
  struct Process {
    Process(ZookeeperBed& bed, std::uint64_t seed)
        : host{bed.network.add_host()},
          env{bed.scheduler, seed},
          port{std::make_shared<SimZookeeperPort>(
              env, bed.network, bed.ensemble, ZookeeperEnds{host, bed.member_hosts})} {}

    HostId host;
    SimEnv env;
    std::shared_ptr<SimZookeeperPort> port;
  };

  explicit ZookeeperBed(std::size_t members = 3) : ensemble{scheduler, members, 2} {
    for (std::size_t i = 0; i < members; ++i) member_hosts.push_back(network.add_host());
  }
  ~ZookeeperBed() { scheduler.clear(); }
  ZookeeperBed(const ZookeeperBed&) = delete;
  ZookeeperBed& operator=(const ZookeeperBed&) = delete;

  Process& start() {
    processes.push_back(std::make_unique<Process>(*this, 100 + processes.size()));
    return *processes.back();
  }

  /// Neither hears the other until reconnect().
  void cut_off(const Process& process) { block(process, 1); }
  void reconnect(const Process& process) { block(process, -1); }

  /// Nothing that the members say arrives until unmute().
  void mute(const Process& process) { mute(process, 1); }
  void unmute(const Process& process) { mute(process, -1); }

  /// A session of the process, and all that it was told. It ends without a word.
  struct Session {
    Session(ZookeeperBed& bed, Process& process, zookeeper::SessionAsk ask)
        : session{process.port->open(
              std::move(ask),
              [told = events](const zookeeper::SessionEvent& event) { told->push_back(event); })},
          bed_{bed},
          process_{process} {}

    /// Runs the world until such an event was told.
    const zookeeper::SessionEvent& await(zookeeper::SessionEvent::Kind kind) {
      const auto find = [&] {
        return std::ranges::find(*events, kind, &zookeeper::SessionEvent::kind);
      };
      const bool told = bed_.scheduler.run_until([&] { return find() != events->end(); }, kHang);
      HOLDFAST_ASSERT(told);
      return *find();
    }

    Result<zookeeper::Answer> ask(zookeeper::Request request,
                                  Duration patience = std::chrono::seconds{5}) {
      auto answer = std::make_shared<std::optional<Result<zookeeper::Answer>>>();
      process_.env.post([this, answer, patience, request = std::move(request)] {
        session->send(
            zookeeper::share(request),
            process_.env.now() + patience,
            [answer](Result<zookeeper::Answer> given) { answer->emplace(std::move(given)); });
      });
      const bool answered = bed_.scheduler.run_until([&] { return answer->has_value(); }, kHang);
      HOLDFAST_ASSERT(answered);
      return **std::move(answer);
    }

    std::shared_ptr<std::vector<zookeeper::SessionEvent>> events{
        std::make_shared<std::vector<zookeeper::SessionEvent>>()};
    std::unique_ptr<zookeeper::ZookeeperSession> session;

   private:
    ZookeeperBed& bed_;
    Process& process_;
  };

  Session open(Process& process, Millis timeout = std::chrono::seconds{4}) {
    return Session{*this, process, {.timeout = timeout}};
  }

  Scheduler scheduler;
  Trace trace;
  Network network{scheduler, trace, 1};
  ZookeeperEnsemble ensemble;
  std::vector<HostId> member_hosts;
  std::vector<std::unique_ptr<Process>> processes;

 private:
  static constexpr Duration kHang = std::chrono::minutes{5};

  void block(const Process& process, int more) {
    for (const HostId member : member_hosts) network.way(process.host, member).blocked += more;
    mute(process, more);
  }
  void mute(const Process& process, int more) {
    for (const HostId member : member_hosts) network.way(member, process.host).blocked += more;
  }
};

}  // namespace holdfast::sim
