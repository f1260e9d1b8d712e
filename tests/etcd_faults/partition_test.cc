// A minority is cut off: whoever holds a lock through it is told that it is lost before the
// majority grants it to another. Three servers in network namespaces of their own; for root.

#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>
#include <stdexcept>

#include "holdfast/client.h"
#include "tests/campaigns/islands.h"
#include "tests/campaigns/let_pass.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

using campaigns::Actor;
using campaigns::Islands;
using campaigns::let_pass;
using campaigns::shell;

constexpr int kNodes = 3;
constexpr auto kPatience = 60s;
constexpr const char* kName = "x";

class Archipelago {
 public:
  Archipelago() {
    for (int i = 0; i < kNodes; ++i) start(i);
  }

  const Islands& islands() const { return islands_; }
  void cut_off(int island) { islands_.cut_off(island); }

  std::string url() const { return "etcd://" + endpoints() + "?timeout=2s"; }

  int wait_for_leader() const {
    const TimePoint limit = BootClock::now() + kPatience;
    while (BootClock::now() < limit) {
      for (int i = 0; i < kNodes; ++i) {
        const std::string asked =
            islands_.at(i) + "etcdctl --command-timeout=2s --endpoints=" + Islands::address(i) +
            ":2379 endpoint status 2>/dev/null | cut -d, -f5 || true";
        if (shell(asked).find("true") != std::string::npos) return i;
      }
    }
    throw std::runtime_error{"nobody leads"};
  }

  /// Until so many want the lock.
  void wait_for_contenders(std::size_t count) const {
    const std::string contenders = islands_.at(0) + "etcdctl --endpoints=" + endpoints() +
                                   " get --prefix --keys-only hf/" + kName +
                                   "/ | grep -c . || true";
    const TimePoint limit = BootClock::now() + kPatience;
    while (std::stoul(shell(contenders)) < count && BootClock::now() < limit) let_pass(20ms);
  }

 private:
  static std::string endpoints() {
    std::string all;
    for (int i = 0; i < kNodes; ++i) all += (i == 0 ? "" : ",") + Islands::address(i) + ":2379";
    return all;
  }

  void start(int i) {
    std::string members;
    for (int k = 0; k < kNodes; ++k) {
      members +=
          (k == 0 ? "n" : ",n") + std::to_string(k) + "=http://" + Islands::address(k) + ":2380";
    }
    const std::string number = std::to_string(i);
    const std::string peers = "http://" + Islands::address(i) + ":2380";
    const std::string clients = "http://" + Islands::address(i) + ":2379";
    islands_.run(i,
                 "etcd --name n" + number + " --data-dir " +
                     (islands_.directory() / number).string() + " --listen-peer-urls " + peers +
                     " --initial-advertise-peer-urls " + peers + " --listen-client-urls " +
                     clients + " --advertise-client-urls " + clients + " --initial-cluster " +
                     members,
                 number + ".log");
  }

  Islands islands_{kNodes};
};

int play(const std::string& part, const std::string& url) {
  auto client = Client::connect(url);
  if (!client) return 1;
  auto lease = client->acquire(kName, {.ttl = 3s});
  if (!lease) return 1;
  Actor::say(part == "hold" ? "held" : "granted");
  const std::stop_callback on_loss{lease->stop_token(), [] { Actor::say("lost"); }};
  while (true) pause();
}

class PartitionTest : public testing::Test {
 protected:
  /// The holder loses it before somebody at the majority gets it.
  void cut_off_holder_at(int island) {
    const Islands& islands = archipelago_.islands();
    const Actor holder{islands, island, "hold", archipelago_.url()};
    ASSERT_GT(holder.when("held"), 0);
    const Actor waiter{islands, (island + 1) % kNodes, "wait", archipelago_.url()};
    archipelago_.wait_for_contenders(2);
    archipelago_.cut_off(island);
    const long long granted = waiter.when("granted");
    const long long lost = holder.when("lost");
    EXPECT_LT(lost, granted);
    std::cout << "told " << (granted - lost) / 1'000'000 << " ms before the majority granted it\n";
  }

  Archipelago archipelago_;
};

TEST_F(PartitionTest, WhoHoldsThroughAFollowerThatIsCutOffIsToldInTime) {
  cut_off_holder_at((archipelago_.wait_for_leader() + 1) % kNodes);
}

TEST_F(PartitionTest, WhoHoldsThroughALeaderThatIsCutOffIsToldInTime) {
  cut_off_holder_at(archipelago_.wait_for_leader());
}

}  // namespace
}  // namespace holdfast::etcd

int main(int argc, char** argv) {
  if (argc == 3) return holdfast::etcd::play(argv[1], argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
