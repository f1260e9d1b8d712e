// A server is cut off from the ensemble, and who holds a lock through it is not: it is told that
// the lock is lost before the majority grants it to another. And what ADR 9 says of such servers.
// Three servers in network namespaces of their own; for root.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <semaphore>
#include <stdexcept>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/campaigns/islands.h"
#include "tests/campaigns/let_pass.h"
#include "tests/zookeeper/driver_bed.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

using campaigns::Actor;
using campaigns::Islands;
using campaigns::let_pass;
using campaigns::shell;

constexpr int kNodes = 3;
constexpr int kPort = 2181;
constexpr Millis kTick{500};
constexpr Millis kTtl{3000};
constexpr auto kPatience = 60s;
/// As long as an answer that does not come is waited for.
constexpr auto kSilence = 2s;

std::string endpoint(int island) { return Islands::address(island) + ':' + std::to_string(kPort); }

class Archipelago {
 public:
  /// `sync_limit`: in ticks, how long servers go on that do not hear of each other.
  explicit Archipelago(int sync_limit) {
    for (int i = 0; i < kNodes; ++i) start(i, sync_limit);
    for (int i = 0; i < kNodes; ++i) {
      wait_for("no server", [&, i] { return tell(i, "srvr").find("\nMode: ") != npos; });
    }
  }

  const Islands& islands() const { return islands_; }
  void cut_off(int island) {
    islands_.cut_off(island);
    std::ofstream{islands_.directory() / "cut"} << island;
  }

  int leader() const {
    for (int i = 0; i < kNodes; ++i) {
      if (tell(i, "srvr").find("\nMode: leader") != npos) return i;
    }
    throw std::runtime_error{"nobody leads"};
  }

  /// Until so many want the lock: nobody else has nodes that go with their session.
  void wait_for_contenders(int count) const {
    const std::string line = "zk_ephemerals_count\t" + std::to_string(count) + '\n';
    wait_for("not so many", [&] { return tell(leader(), "mntr").find(line) != npos; });
  }

 private:
  static constexpr std::size_t npos = std::string::npos;

  template <class Done>
  static void wait_for(const char* otherwise, Done done) {
    const TimePoint limit = BootClock::now() + kPatience;
    while (!done()) {
      if (BootClock::now() > limit) throw std::runtime_error{otherwise};
      let_pass(50ms);
    }
  }

  std::string tell(int island, const std::string& word) const {
    return shell(islands_.at(island) + "bash -c 'exec 3<>/dev/tcp/" + Islands::address(island) +
                 '/' + std::to_string(kPort) + " && echo " + word + " >&3 && cat <&3' || true");
  }

  void start(int island, int sync_limit) {
    const std::string number = std::to_string(island);
    const std::filesystem::path home = islands_.directory() / number;
    std::filesystem::create_directory(home);
    std::ofstream{home / "myid"} << island + 1 << '\n';
    std::ofstream settings{home / "zoo.cfg"};
    settings << "clientPort=" << kPort << "\ndataDir=" << home.string()
             << "\ntickTime=" << kTick.count() << "\ninitLimit=60\nsyncLimit=" << sync_limit
             << "\nmaxSessionTimeout=60000\nadmin.enableServer=false\n4lw.commands.whitelist=*\n"
             << "preAllocSize=1024\n";
    for (int i = 0; i < kNodes; ++i) {
      settings << "server." << i + 1 << '=' << Islands::address(i) << ":2888:3888\n";
    }
    settings.close();
    const std::filesystem::path jar = HOLDFAST_ZOOKEEPER_JAR;
    islands_.run(island,
                 std::string{HOLDFAST_JAVA} +
                     " -Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
                     " -Dorg.slf4j.simpleLogger.defaultLogLevel=info -cp " +
                     jar.string() + ':' + (jar.parent_path() / "slf4j-simple.jar").string() +
                     " org.apache.zookeeper.server.quorum.QuorumPeerMain " +
                     (home / "zoo.cfg").string(),
                 number + ".log");
  }

  Islands islands_{kNodes};
};

/// Takes the lock, tells of its end, and tries to write then.
int hold(const std::string& url) {
  auto client = Client::connect(url);
  if (!client) return 1;
  auto lease = client->acquire("x", {.ttl = kTtl});
  if (!lease) return 1;
  auto resource = client->store()->open("r", *lease);
  if (!resource || !resource->write("held")) return 1;
  std::binary_semaphore lost{0};
  const std::stop_callback on_loss{lease->stop_token(), [&] {
                                     Actor::say("lost");
                                     lost.release();
                                   }};
  Actor::say("held");
  lost.acquire();
  Actor::say(resource->write("late") ? "accepted" : "refused");
  while (true) pause();
}

int queue_up(const std::string& url) {
  auto client = Client::connect(url);
  if (!client) return 1;
  const auto lease = client->acquire("x", {.ttl = kTtl});
  if (!lease) return 1;
  Actor::say("granted");
  while (true) pause();
}

/// What a server does for sessions that it knows, when it has been cut off for longer than they
/// last.
int ask(const std::string& directory, int island) {
  DriverBed bed{{.endpoints = {{Islands::address(island), kPort}}}};
  const SessionAsk asked{.timeout = kTtl};
  BedSession idle{bed, asked};
  BedSession reading{bed, asked};
  BedSession writing{bed, asked};
  for (BedSession* const one : {&idle, &reading, &writing}) {
    one->next(SessionEvent::Kind::connected);
  }
  Actor::say("ready");
  while (!std::filesystem::exists(std::filesystem::path{directory} / "cut")) let_pass(20ms);
  let_pass(2 * kTtl);
  // The client library hangs up when pings are not answered.
  Actor::say(idle.was_told(SessionEvent::Kind::disconnected) ? "no-pings" : "pings");
  Actor::say(reading.ask(Exists{.path = "/"}, kSilence) ? "reads" : "no-reads");
  Actor::say(reading.ask(Sync{}, kSilence) ? "syncs" : "no-syncs");
  const Multi heartbeat{.steps = {Check{.path = "/"}}};
  Actor::say(writing.ask(heartbeat, kSilence) ? "agrees" : "agrees-not");
  while (true) pause();
}

/// The holder talks to that server alone, and the waiter to the others.
void expect_told_in_time(Archipelago& archipelago, int island) {
  const Islands& islands = archipelago.islands();
  const std::string begin = "zookeeper://";
  const int next = (island + 1) % kNodes;
  const Actor holder{islands, island, "hold", begin + endpoint(island) + "?timeout=2s"};
  ASSERT_GT(holder.when("held"), 0);
  // It is not served while the others elect a leader.
  const std::string others = endpoint(next) + ',' + endpoint((island + 2) % kNodes);
  const Actor waiter{islands, next, "wait", begin + others + "?timeout=60s"};
  archipelago.wait_for_contenders(2);
  archipelago.cut_off(island);
  const long long granted = waiter.when("granted");
  const long long lost = holder.when("lost");
  EXPECT_LT(lost, granted);
  EXPECT_GT(holder.when("refused"), 0);
  std::cout << "told " << (granted - lost) / 1'000'000 << " ms before the majority granted it\n";
}

TEST(PartitionTest, WhoHoldsThroughAFollowerThatIsCutOffIsToldInTime) {
  // It goes on for long after the leader has let the session end.
  Archipelago archipelago{/*sync_limit=*/40};
  expect_told_in_time(archipelago, (archipelago.leader() + 1) % kNodes);
}

TEST(PartitionTest, WhoHoldsThroughALeaderThatIsCutOffIsToldInTime) {
  Archipelago archipelago{/*sync_limit=*/10};
  expect_told_in_time(archipelago, archipelago.leader());
}

class CutOffServerTest : public testing::Test {
 protected:
  /// Asks there once it is cut off.
  Actor ask_at(int island) {
    const Islands& islands = archipelago_.islands();
    return Actor{islands, island, "ask" + std::to_string(island), islands.directory().string()};
  }

  Archipelago archipelago_{/*sync_limit=*/80};
};

TEST_F(CutOffServerTest, AFollowerAnswersPingsAndReadsAndNoSync) {
  const int island = (archipelago_.leader() + 1) % kNodes;
  const Actor asking = ask_at(island);
  ASSERT_GT(asking.when("ready"), 0);
  archipelago_.cut_off(island);
  for (const char* const word : {"pings", "reads", "no-syncs", "agrees-not"}) {
    ASSERT_GT(asking.when(word), 0);
  }
}

TEST_F(CutOffServerTest, ALeaderAnswersEvenASyncButNoCheckThatNeedsAMajority) {
  const int island = archipelago_.leader();
  const Actor asking = ask_at(island);
  ASSERT_GT(asking.when("ready"), 0);
  archipelago_.cut_off(island);
  for (const char* const word : {"pings", "reads", "syncs", "agrees-not"}) {
    ASSERT_GT(asking.when(word), 0);
  }
}

}  // namespace
}  // namespace holdfast::zookeeper

int main(int argc, char** argv) {
  using namespace holdfast::zookeeper;
  const std::string part = argc == 3 ? argv[1] : "";
  if (part == "hold") return hold(argv[2]);
  if (part == "wait") return queue_up(argv[2]);
  if (part.starts_with("ask")) return ask(argv[2], std::stoi(part.substr(3)));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
