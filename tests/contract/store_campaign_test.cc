// Many processes, stopped and killed at random, and a store that neither loses nor repeats
// anything.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "tests/contract/contract.h"
#include "tests/contract/store_labour.h"

namespace holdfast::contract {
namespace {

constexpr int kProcesses = 8;

std::int64_t from_environment(const char* name, std::int64_t usual) {
  const char* asked = std::getenv(name);
  return asked == nullptr ? usual : std::atoll(asked);
}

class StoreCampaign : public ContractTest {
 protected:
  void SetUp() override {
    ContractTest::SetUp();
    store_ = std::make_unique<Store>(client().store().value());
    for (int i = 0; i < kProcesses; ++i) actors_.push_back(actor());
  }

  Store& store() { return *store_; }
  std::int64_t rounds() const { return rounds_; }

  /// Sends every actor the same command, and sums up what they answer: counted and refused.
  std::pair<std::int64_t, std::int64_t> all_do(const Fields& command) {
    std::vector<std::future<Fields>> replies;
    for (auto& one : actors_) replies.push_back(one->send(command));
    std::pair<std::int64_t, std::int64_t> sum;
    for (auto& reply : replies) {
      const Fields answer = reply.get();
      EXPECT_EQ(answer.at(0), "done") << answer.at(1);
      sum.first += to_number(answer.at(1));
      sum.second += answer.size() > 2 ? to_number(answer.at(2)) : 0;
    }
    return sum;
  }

 private:
  const std::int64_t rounds_ =
      from_environment("HOLDFAST_ROUNDS", HOLDFAST_CAMPAIGN_ROUNDS) / kProcesses;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<Actor>> actors_;
};

/// Stops whoever holds the lock until somebody else has taken over, again and again.
class Stopper {
 public:
  Stopper(Client client, std::string lock)
      : client_{std::move(client)}, lock_{std::move(lock)}, thread_{[this] { run(); }} {}
  ~Stopper() {
    ending_ = true;
    thread_.join();
  }
  int stops() const { return stops_; }

 private:
  void run() {
    while (!ending_) {
      const auto holder = current();
      if (!holder || ::kill(static_cast<pid_t>(holder->pid), SIGSTOP) != 0) continue;
      // It may have let go before the signal reached it; then its turn does not pass to another
      // because of us, and it is stopped somewhere else.
      const TimePoint limit = BootClock::now() + std::chrono::seconds{1};
      while (!ending_ && BootClock::now() < limit) {
        const auto now = current();
        if (now && now->token != holder->token) break;
        poll(nullptr, 0, 1);
      }
      ::kill(static_cast<pid_t>(holder->pid), SIGCONT);
      ++stops_;
      poll(nullptr, 0, 100);
    }
  }

  std::optional<Contender> current() {
    const auto lock = client_.inspect(lock_);
    if (!lock || lock->holders.empty()) return std::nullopt;
    return lock->holders.front();
  }

  Client client_;
  std::string lock_;
  std::atomic<bool> ending_{false};
  std::atomic<int> stops_{0};
  std::thread thread_;
};

INSTANTIATE_TEST_SUITE_P(Engine,
                         StoreCampaign,
                         ::testing::ValuesIn(campaign_engines()),
                         engine_name);

TEST_P(StoreCampaign, UpdatesLoseNothing) {
  const auto [counted, conflicts] = all_do({"update", "k", std::to_string(rounds())});
  EXPECT_EQ(read_counter(store(), "k"), static_cast<std::uint64_t>(counted));
  EXPECT_EQ(counted, rounds() * kProcesses);
  std::printf("%lld increments, %lld conflicts\n",
              static_cast<long long>(counted),
              static_cast<long long>(conflicts));
}

TEST_P(StoreCampaign, FencedHoldersLoseNothingHoweverTheyAreStopped) {
  const Stopper stopper{reconnect(), "x"};
  const auto [counted, refused] = all_do({"fenced", "x", "r", std::to_string(rounds()), "100"});
  EXPECT_EQ(read_counter(store(), "r"), static_cast<std::uint64_t>(counted));
  EXPECT_EQ(counted, rounds() * kProcesses);
  EXPECT_GT(stopper.stops(), 0);
  EXPECT_GT(refused, 0) << "nobody was stopped where it matters";
  std::printf("%lld increments, %d stops, %lld stale operations refused\n",
              static_cast<long long>(counted),
              stopper.stops(),
              static_cast<long long>(refused));
}

// The same run without the fence: what the fence is for.
TEST_P(StoreCampaign, UnfencedHoldersLoseUpdates) {
  const Stopper stopper{reconnect(), "x"};
  const auto [counted, refused] = all_do({"unfenced", "x", "k", std::to_string(rounds()), "100"});
  EXPECT_EQ(refused, 0);
  const std::uint64_t stored = read_counter(store(), "k");
  EXPECT_LT(stored, static_cast<std::uint64_t>(counted)) << "the run shows nothing";
  std::printf("%lld increments, %d stops, %lld updates lost\n",
              static_cast<long long>(counted),
              stopper.stops(),
              static_cast<long long>(counted) - static_cast<long long>(stored));
}

/// One runner's effect, as it wrote it down.
struct Effect {
  std::uint64_t token{0};
  pid_t pid{0};
  TimePoint at{};
};

std::map<std::string, std::vector<Effect>> read_runs(const std::string& file) {
  std::map<std::string, std::vector<Effect>> runs;
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);) {
    const Fields fields = split(line);
    if (fields.back() != "whole") continue;
    runs[fields.at(0)].push_back({.token = static_cast<std::uint64_t>(to_number(fields.at(1))),
                                  .pid = static_cast<pid_t>(to_number(fields.at(2))),
                                  .at = to_time(fields.at(3))});
  }
  return runs;
}

class OnceCampaign : public ContractTest {
 protected:
  /// The victim died in between.
  struct Killing {
    TimePoint begin;
    TimePoint end;
  };

  struct Caller {
    std::unique_ptr<Actor> actor;
    std::future<Fields> reply;
    int key{0};
  };

  void ask(Caller& caller) {
    caller.reply = caller.actor->send(
        {"once", "k" + std::to_string(caller.key), "1000", file("effects"), "-1"});
  }

  void replace(Caller& caller) {
    if (caller.actor) {
      const pid_t pid = caller.actor->pid();
      const TimePoint begin = BootClock::now();
      caller.actor->kill();
      killed_[pid].push_back({begin, BootClock::now()});
    }
    caller.actor = actor();
    ask(caller);
  }

  /// Who is running the key right now, if anybody is.
  Caller* runner_of(int key, std::vector<Caller>& callers) {
    const auto lock = client().inspect("once:k" + std::to_string(key));
    if (!lock || lock->holders.empty()) return nullptr;
    for (Caller& caller : callers) {
      if (caller.actor->pid() == lock->holders.front().pid) return &caller;
    }
    return nullptr;
  }

  /// Takes the answer if there is one, and goes on to the next key.
  void collect(Caller& caller) {
    if (caller.reply.wait_for(Millis{0}) != std::future_status::ready) return;
    const Fields answer = caller.reply.get();
    ASSERT_TRUE(answer.at(0) == "here" || answer.at(0) == "before") << answer.at(0);
    const auto [known, first] = results_.emplace(caller.key, answer.at(1));
    EXPECT_EQ(known->second, answer.at(1)) << "two results for key " << caller.key;
    if (!first) ++agreed_;
    ++caller.key;
    ask(caller);
  }

  /// Whether the process of that run was killed before `takeover`. Numbers of processes come back:
  /// a kill from before the run was another's.
  bool died_before(const Effect& run, TimePoint takeover) {
    return std::ranges::any_of(killed_[run.pid], [&](const Killing& killing) {
      return run.at <= killing.end && killing.begin <= takeover;
    });
  }

  std::map<pid_t, std::vector<Killing>> killed_;
  std::map<int, std::string> results_;
  int agreed_{0};
};
INSTANTIATE_TEST_SUITE_P(Engine,
                         OnceCampaign,
                         ::testing::ValuesIn(campaign_engines()),
                         engine_name);

TEST_P(OnceCampaign, OneResultHoweverOftenTheRunnerIsKilled) {
  const std::int64_t kills = from_environment("HOLDFAST_ONCE_KILLS", HOLDFAST_ONCE_KILLS);
  std::mt19937 chance{20261115};
  std::vector<Caller> callers(3);
  for (Caller& caller : callers) replace(caller);
  for (std::int64_t kill = 0; kill < kills && !HasFatalFailure(); ++kill) {
    // Some go on for a while, some are hardly born.
    const TimePoint until = BootClock::now() + std::chrono::microseconds{chance() % 8000};
    Caller* runner = nullptr;
    while (runner == nullptr || BootClock::now() < until) {
      for (Caller& caller : callers) collect(caller);
      runner = runner_of(callers[chance() % callers.size()].key, callers);
    }
    replace(*runner);
  }
  callers.clear();

  auto store = client().store().value();
  std::size_t takeovers = 0;
  for (const auto& [name, runs] : read_runs(file("effects"))) {
    const auto stored = store.once_result(name);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      ++takeovers;
      EXPECT_GT(runs[i].token, runs[i - 1].token) << name;
      EXPECT_TRUE(died_before(runs[i - 1], runs[i].at)) << name << " was taken from the living";
    }
    if (stored && *stored) {
      EXPECT_EQ((*stored)->bytes, std::to_string(runs.back().token)) << name;
    }
  }
  for (const auto& [key, result] : results_) {
    const auto stored = store.once_result("k" + std::to_string(key));
    ASSERT_TRUE(stored && *stored) << key;
    EXPECT_EQ((*stored)->bytes, result);
  }
  EXPECT_GT(agreed_, 0);
  EXPECT_GT(takeovers, 0U);
  std::printf("%lld kills, %zu keys, %zu takeovers, %d answers compared\n",
              static_cast<long long>(kills),
              results_.size(),
              takeovers,
              agreed_);
}

}  // namespace
}  // namespace holdfast::contract
