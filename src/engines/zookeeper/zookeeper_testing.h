// For the tests of the ZooKeeper engine: processes that take locks at a model ensemble.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engines/zookeeper/zookeeper_desk.h"
#include "engines/zookeeper/zookeeper_engine.h"
#include "sim/world/locker.h"
#include "sim/zookeeper/zookeeper_bed.h"

namespace holdfast::zookeeper::testing {

using namespace std::chrono_literals;

/// What a port was asked, of what its sessions are told, and what goes wrong with it.
struct Traffic {
  int requests{0};
  int creates{0};
  /// Heartbeats.
  int beats{0};
  int opened{0};
  int resumed{0};
  int closed{0};
  /// No news of nodes comes through.
  bool deaf{false};
  /// The answers to so many creations are lost.
  int lose_created{0};
  /// So many creations do not leave, though that is not known.
  int lose_creates{0};
  /// So many creations run seconds later, and are not answered.
  int delay_creates{0};
  /// Does the next creation instead; its answer is lost.
  std::function<void(const SharedRequest&)> usurp{};
  /// Servers greet who resumes a session with a new one.
  bool forgetful{false};
  /// Paths with watches.
  std::multiset<std::string> watched{};
  /// Of the session that was connected last.
  SessionKey key{};
};

/// Counts what is asked, and can lose it.
class TestPort final : public ZookeeperPort {
 public:
  TestPort(sim::SimEnv& env, std::shared_ptr<ZookeeperPort> port)
      : env_{env}, port_{std::move(port)} {}

  std::unique_ptr<ZookeeperSession> open(SessionAsk ask, OnEvent on_event) override;

  std::shared_ptr<Traffic> traffic{std::make_shared<Traffic>()};

 private:
  sim::SimEnv& env_;
  std::shared_ptr<ZookeeperPort> port_;
};

struct ZookeeperKit {
  using Bed = sim::ZookeeperBed;
  using Port = TestPort;
  using Engine = ZookeeperEngine;
  using Desk = ZookeeperDesk;
  using Settings = zookeeper::Settings;
};
using Locker = sim::Locker<ZookeeperKit>;

class ZookeeperEngineTest : public ::testing::Test {
 protected:
  void advance(Duration duration) { bed_.scheduler.advance(duration); }
  bool run_until(const std::function<bool()>& done, Duration limit = 2min) {
    return bed_.scheduler.run_until(done, limit);
  }

  /// What another client asks, with a session of its own.
  Answer ask(Request request);
  /// The contenders for a lock, the first come first.
  std::vector<Child> contenders(const std::string& name = "ledger");
  std::string path_of(const Child& child, const std::string& name = "ledger") {
    return "/hf/" + name + '/' + child.name;
  }
  NodeStat stat_of(const Child& child) { return ask(Read{.path = path_of(child)}).stat; }
  /// Another client takes a contender's node away.
  void erase(const Child& child) { ask(Erase{.path = path_of(child)}); }
  /// The session that the process was given last ends at the servers, as by an operator.
  void end_session(const Locker& who);

  Settings settings_{};
  sim::ZookeeperBed bed_{};
  sim::ZookeeperBed::Process& hand_{bed_.start()};
  sim::ZookeeperBed::Session hand_session_{bed_, hand_, {.timeout = 30s}};
  Locker alice_{bed_, settings_};
  Locker bob_{bed_, settings_};
};

}  // namespace holdfast::zookeeper::testing
