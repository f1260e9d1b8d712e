#include "tests/campaigns/paused_set.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/campaigns/let_pass.h"

namespace holdfast::campaigns {
namespace {

using namespace std::chrono_literals;

constexpr int kWorkers = 5;
constexpr auto kBetweenPauses = 1s;
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
bool add(Client& client, Store& store, const std::string& element, Millis ttl, Fencing fencing) {
  auto lease = client.acquire(kName, {.ttl = ttl});
  if (!lease) return false;
  if (fencing == Fencing::off) {
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
int work(const std::string& url, const std::string& number, Millis ttl, Fencing fencing) {
  auto client = Client::connect(url);
  if (!client) return 1;
  auto store = client->store();
  if (!store) return 1;
  for (int i = 0;; ++i) {
    const std::string element = number + '.' + std::to_string(i);
    if (add(*client, *store, element, ttl, fencing)) std::cout << element << std::endl;
  }
}

struct Worker {
  pid_t pid{-1};
  std::filesystem::path said;
};

Worker start(const std::filesystem::path& said, std::array<std::string, 6> words) {
  Worker worker{.said = said};
  std::array<char*, 7> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT_EQ(
      posix_spawn(&worker.pid, words[0].c_str(), &actions, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return worker;
}

/// The process that holds the lock at this moment.
pid_t holder_of(Client& client) {
  const auto info = client.inspect(kName);
  return info && !info->holders.empty() ? static_cast<pid_t>(info->holders[0].pid) : -1;
}

void pause_holders(Client& client, Millis pause) {
  for (int i = 0; i < pauses(); ++i) {
    let_pass(kBetweenPauses);
    pid_t holder = holder_of(client);
    while (holder <= 0) holder = holder_of(client);
    kill(holder, SIGSTOP);
    let_pass(pause);
    kill(holder, SIGCONT);
  }
}

PausedSetFigures count(const std::vector<Worker>& workers, const std::string& stored) {
  std::istringstream elements{stored};
  const std::set<std::string> kept{std::istream_iterator<std::string>{elements}, {}};
  PausedSetFigures figures;
  for (const Worker& worker : workers) {
    std::ifstream said{worker.said};
    for (std::string element; said >> element;) {
      ++figures.added;
      if (!kept.contains(element)) ++figures.lost;
    }
  }
  return figures;
}

}  // namespace

PausedSetFigures run_paused_set(const PausedSet& set, Fencing fencing) {
  std::string directory = std::filesystem::temp_directory_path() / "holdfast-set-XXXXXX";
  EXPECT_NE(mkdtemp(directory.data()), nullptr);
  const std::string how = fencing == Fencing::on ? "fenced" : "unfenced";
  const std::string url = set.url + "&prefix=" + how + "/";
  Client client = *Client::connect(url);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<Worker> workers;
  for (int i = 0; i < kWorkers; ++i) {
    const std::string number = std::to_string(i);
    workers.push_back(start(std::filesystem::path{directory} / number,
                            {self, "work", url, number, std::to_string(set.ttl.count()), how}));
  }
  pause_holders(client, set.pause);
  // Whoever was paused last has its say.
  let_pass(set.ttl);
  for (Worker& worker : workers) {
    kill(worker.pid, SIGKILL);
    waitpid(worker.pid, nullptr, 0);
  }
  const PausedSetFigures figures = count(workers, text(client.store()->get(kName)));
  std::filesystem::remove_all(directory);
  std::cout << how << ": " << figures.added << " added, " << figures.lost << " lost\n";
  return figures;
}

int main_of_paused_set(int argc, char** argv) {
  if (argc == 6 && std::string{argv[1]} == "work") {
    const Fencing fencing = std::string{argv[5]} == "fenced" ? Fencing::on : Fencing::off;
    return work(argv[2], argv[3], Millis{std::atoll(argv[4])}, fencing);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace holdfast::campaigns
