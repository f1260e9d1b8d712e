// A minority is cut off: whoever holds a lock through it is told that it is lost before the
// majority grants it to another. Three servers in network namespaces of their own; for root.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

#include "holdfast/client.h"
#include "tests/campaigns/let_pass.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

using campaigns::let_pass;

constexpr int kNodes = 3;
constexpr auto kPatience = 60s;
constexpr const char* kName = "x";

/// Runs a shell command to its end. What it printed.
std::string shell(const std::string& command) {
  std::FILE* const pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  std::string said;
  char text[512];
  while (pipe != nullptr && std::fgets(text, sizeof text, pipe) != nullptr) said += text;
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  if (status != 0) throw std::runtime_error{command + ": " + said};
  return said;
}

/// A program in the background, by the shell; killed at the end.
class Background {
 public:
  explicit Background(const std::string& command) : pid_{fork()} {
    if (pid_ != 0) return;
    setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  ~Background() {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  pid_t pid_;
};

/// Three servers, each in a namespace of its own, at one bridge.
class Archipelago {
 public:
  Archipelago() {
    std::string name = std::filesystem::temp_directory_path() / "holdfast-islands-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no directory"};
    directory_ = name;
    shell("ip netns add " + space("net") + " && ip -n " + space("net") +
          " link add br0 type bridge && ip -n " + space("net") + " link set br0 up");
    for (int i = 0; i < kNodes; ++i) connect(i);
    for (int i = 0; i < kNodes; ++i) start(i);
  }
  ~Archipelago() {
    servers_.clear();
    for (int i = 0; i < kNodes; ++i)
      static_cast<void>(std::system(("ip netns del " + space(i)).c_str()));
    static_cast<void>(std::system(("ip netns del " + space("net")).c_str()));
    std::filesystem::remove_all(directory_);
  }
  Archipelago(const Archipelago&) = delete;
  Archipelago& operator=(const Archipelago&) = delete;

  /// Begins a command on the island.
  std::string at(int island) const { return "ip netns exec " + space(island) + ' '; }

  std::string endpoints() const {
    std::string all;
    for (int i = 0; i < kNodes; ++i) all += (i == 0 ? "" : ",") + address(i) + ":2379";
    return all;
  }

  int wait_for_leader() const {
    const TimePoint limit = BootClock::now() + kPatience;
    while (BootClock::now() < limit) {
      for (int i = 0; i < kNodes; ++i) {
        const std::string asked = at(i) + "etcdctl --command-timeout=2s --endpoints=" + address(i) +
                                  ":2379 endpoint status 2>/dev/null | cut -d, -f5 || true";
        if (shell(asked).find("true") != std::string::npos) return i;
      }
    }
    throw std::runtime_error{"nobody leads"};
  }

  /// Until so many want the lock.
  void wait_for_contenders(std::size_t count) const {
    const std::string contenders = at(0) + "etcdctl --endpoints=" + endpoints() +
                                   " get --prefix --keys-only hf/" + kName +
                                   "/ | grep -c . || true";
    const TimePoint limit = BootClock::now() + kPatience;
    while (std::stoul(shell(contenders)) < count && BootClock::now() < limit) let_pass(20ms);
  }

  /// Nothing reaches the island or leaves it.
  void cut_off(int island) {
    shell(
        at(island) +
        "nft -f - <<'RULES'\ntable inet cut {\n"
        "  chain input { type filter hook input priority 0; iifname \"eth0\" drop; }\n"
        "  chain output { type filter hook output priority 0; oifname \"eth0\" drop; }\n}\nRULES");
  }

  const std::filesystem::path& directory() const { return directory_; }

 private:
  static std::string address(int island) { return "10.99.0." + std::to_string(island + 1); }
  std::string space(const std::string& what) const {
    return "hf" + std::to_string(getpid()) + '-' + what;
  }
  std::string space(int island) const { return space(std::to_string(island)); }

  void connect(int i) {
    const std::string end = "v" + std::to_string(i);
    shell("ip netns add " + space(i) + " && ip link add " + end + " netns " + space("net") +
          " type veth peer name eth0 netns " + space(i) + " && ip -n " + space("net") +
          " link set " + end + " master br0 up && ip -n " + space(i) + " addr add " + address(i) +
          "/24 dev eth0 && ip -n " + space(i) + " link set eth0 up && ip -n " + space(i) +
          " link set lo up");
  }

  void start(int i) {
    std::string members;
    for (int k = 0; k < kNodes; ++k) {
      members += (k == 0 ? "n" : ",n") + std::to_string(k) + "=http://" + address(k) + ":2380";
    }
    const std::string number = std::to_string(i);
    const std::string peers = "http://" + address(i) + ":2380";
    const std::string clients = "http://" + address(i) + ":2379";
    servers_.push_back(std::make_unique<Background>(
        "exec " + at(i) + "etcd --name n" + number + " --data-dir " +
        (directory_ / number).string() + " --listen-peer-urls " + peers +
        " --initial-advertise-peer-urls " + peers + " --listen-client-urls " + clients +
        " --advertise-client-urls " + clients + " --initial-cluster " + members + " >" +
        (directory_ / (number + ".log")).string() + " 2>&1"));
  }

  std::filesystem::path directory_;
  std::vector<std::unique_ptr<Background>> servers_;
};

long long boot_nanoseconds() {
  return static_cast<long long>(BootClock::now().time_since_epoch().count());
}

/// A process of this program. What it says is a word and a time, line by line.
class Actor {
 public:
  Actor(const Archipelago& islands, int island, const std::string& part)
      : said_{islands.directory() / (part + std::to_string(island))},
        process_{"exec " + islands.at(island) +
                 std::filesystem::read_symlink("/proc/self/exe").string() + ' ' + part +
                 " 'etcd://" + islands.endpoints() + "?timeout=2s' >" + said_.string()} {}

  /// When it said so.
  long long when(const std::string& word) const {
    const TimePoint limit = BootClock::now() + kPatience;
    while (BootClock::now() < limit) {
      std::istringstream lines{shell("cat " + said_.string() + " 2>/dev/null || true")};
      std::string said;
      for (long long time = 0; lines >> said >> time;) {
        if (said == word) return time;
      }
      let_pass(20ms);
    }
    ADD_FAILURE() << "nobody said " << word;
    return 0;
  }

 private:
  std::filesystem::path said_;
  Background process_;
};

int play(const std::string& part, const std::string& url) {
  auto client = Client::connect(url);
  if (!client) return 1;
  std::mutex mutex;
  const auto say = [&](const char* word) {
    const long long now = boot_nanoseconds();
    const std::lock_guard lock{mutex};
    std::cout << word << ' ' << now << std::endl;
  };
  auto lease = client->acquire(kName, {.ttl = 3s});
  if (!lease) return 1;
  say(part == "hold" ? "held" : "granted");
  const std::stop_callback on_loss{lease->stop_token(), [&] { say("lost"); }};
  while (true) pause();
}

class PartitionTest : public testing::Test {
 protected:
  /// The holder loses it before somebody at the majority gets it.
  void cut_off_holder_at(int island) {
    const Actor holder{islands_, island, "hold"};
    ASSERT_GT(holder.when("held"), 0);
    const Actor waiter{islands_, (island + 1) % kNodes, "wait"};
    islands_.wait_for_contenders(2);
    islands_.cut_off(island);
    const long long granted = waiter.when("granted");
    const long long lost = holder.when("lost");
    EXPECT_LT(lost, granted);
    std::cout << "told " << (granted - lost) / 1'000'000 << " ms before the majority granted it\n";
  }

  Archipelago islands_;
};

TEST_F(PartitionTest, WhoHoldsThroughAFollowerThatIsCutOffIsToldInTime) {
  cut_off_holder_at((islands_.wait_for_leader() + 1) % kNodes);
}

TEST_F(PartitionTest, WhoHoldsThroughALeaderThatIsCutOffIsToldInTime) {
  cut_off_holder_at(islands_.wait_for_leader());
}

}  // namespace
}  // namespace holdfast::etcd

int main(int argc, char** argv) {
  if (argc == 3) return holdfast::etcd::play(argv[1], argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
