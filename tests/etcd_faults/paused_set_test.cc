// The experiment of the Jepsen report on etcd 3.4.3: a set under a lock, 2 s leases, five workers,
// and a pause of whoever holds the lock every 5 s. Without fencing updates are lost; with it, none.
//
// HOLDFAST_PAUSES: how many; 3 unless told.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/etcd_faults/let_pass.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

constexpr int kWorkers = 5;
constexpr auto kTtl = 2s;
constexpr auto kBetweenPauses = 5s;
/// Longer than a lease and what the server takes to notice.
constexpr auto kPause = 4s;
/// What a worker does between reading and writing: most of what it does under the lock, so that
/// the pause meets it there.
constexpr auto kWork = 200ms;
constexpr const char* kName = "set";

int pauses() {
  const char* const told = std::getenv("HOLDFAST_PAUSES");
  return told == nullptr ? 3 : std::atoi(told);
}

std::string text(const Result<std::optional<Entry>, StoreError>& entry) {
  return entry && *entry ? (*entry)->value : std::string{};
}

/// Adds an element under the lock. Whether the store has confirmed it.
bool add(Client& client, Store& store, const std::string& element, bool fenced) {
  auto lease = client.acquire(kName, {.ttl = kTtl});
  if (!lease) return false;
  if (!fenced) {
    const std::string before = text(store.get(kName));
    let_pass(kWork);
    return static_cast<bool>(store.put(kName, before + element + ' '));
  }
  auto resource = store.open(kName, *lease);
  if (!resource) return false;
  const auto before = resource->read();
  if (!before) return false;
  let_pass(kWork);
  return static_cast<bool>(resource->write(text(before) + element + ' '));
}

/// A worker's process: tells on standard output what it has added, until it is killed.
int work(const std::string& url, const std::string& number, const std::string& how) {
  auto client = Client::connect(url);
  if (!client) return 1;
  auto store = client->store();
  if (!store) return 1;
  for (int i = 0;; ++i) {
    const std::string element = number + '.' + std::to_string(i);
    if (add(*client, *store, element, how == "fenced")) std::cout << element << std::endl;
  }
}

class PausedSetTest : public testing::Test {
 protected:
  struct Worker {
    pid_t pid{-1};
    std::filesystem::path said;
  };

  PausedSetTest() {
    std::string name = std::filesystem::temp_directory_path() / "holdfast-set-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  ~PausedSetTest() override { std::filesystem::remove_all(directory_); }

  Worker start(const std::string& url, int number, const std::string& how) {
    Worker worker{.said = directory_ / std::to_string(number)};
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::string words[]{self, "work", url, std::to_string(number), how};
    char* arguments[]{words[0].data(),
                      words[1].data(),
                      words[2].data(),
                      words[3].data(),
                      words[4].data(),
                      nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(
        &actions, STDOUT_FILENO, worker.said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(posix_spawn(&worker.pid, self.c_str(), &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return worker;
  }

  /// The process that holds the lock at this moment.
  static pid_t holder_of(Client& client) {
    const auto info = client.inspect(kName);
    return info && !info->holders.empty() ? static_cast<pid_t>(info->holders[0].pid) : -1;
  }

  struct Figures {
    std::size_t added{0};
    std::size_t lost{0};
  };

  Figures run(const std::string& how) {
    const std::string url = "etcd://" + cluster_.endpoints() + "?prefix=" + how + "/";
    Client client = *Client::connect(url);
    std::vector<Worker> workers;
    for (int i = 0; i < kWorkers; ++i) workers.push_back(start(url, i, how));
    for (int i = 0; i < pauses(); ++i) {
      let_pass(kBetweenPauses - kPause);
      pid_t holder = holder_of(client);
      while (holder <= 0) holder = holder_of(client);
      kill(holder, SIGSTOP);
      let_pass(kPause);
      kill(holder, SIGCONT);
    }
    // Whoever was paused last has its say.
    let_pass(kTtl);
    for (Worker& worker : workers) {
      kill(worker.pid, SIGKILL);
      waitpid(worker.pid, nullptr, 0);
    }
    std::istringstream stored{text(client.store()->get(kName))};
    const std::set<std::string> kept{std::istream_iterator<std::string>{stored}, {}};
    Figures figures;
    for (const Worker& worker : workers) {
      std::ifstream said{worker.said};
      for (std::string element; said >> element;) {
        ++figures.added;
        if (!kept.contains(element)) ++figures.lost;
      }
    }
    return figures;
  }

  EtcdCluster cluster_;
  std::filesystem::path directory_;
};

TEST_F(PausedSetTest, FencingLosesNothing) {
  const Figures unfenced = run("unfenced");
  const Figures fenced = run("fenced");
  std::cout << "unfenced: " << unfenced.added << " added, " << unfenced.lost << " lost\n"
            << "fenced:   " << fenced.added << " added, " << fenced.lost << " lost\n";
  EXPECT_GT(unfenced.lost, 0U) << "the experiment shows nothing";
  EXPECT_GT(fenced.added, 0U);
  EXPECT_EQ(fenced.lost, 0U);
}

}  // namespace
}  // namespace holdfast::etcd

int main(int argc, char** argv) {
  if (argc == 5 && std::string{argv[1]} == "work") {
    return holdfast::etcd::work(argv[2], argv[3], argv[4]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
