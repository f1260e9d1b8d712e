#include "tests/campaigns/leader_kills.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/campaigns/let_pass.h"

namespace holdfast::campaigns {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWorkers = 20;
constexpr std::size_t kLocks = 5;
constexpr auto kBetweenKills = 5s;
/// Far longer than an election and a turn of every worker take.
constexpr auto kPatience = 60s;

std::chrono::seconds campaign_time() {
  const char* const told = std::getenv("HOLDFAST_LEADER_KILLS_SECONDS");
  return std::chrono::seconds{told == nullptr ? 20 : std::atoi(told)};
}

/// What all workers have seen, by lock.
struct Ledger {
  struct Write {
    Version version;
    Token token;
  };
  struct Account {
    std::vector<Write> applied;
    std::set<Token> tokens;
    std::uint64_t unknown{0};
  };

  std::mutex mutex;
  std::array<Account, kLocks> accounts;
  std::atomic<int> duplicate_tokens{0};
};

class Worker {
 public:
  Worker(const LeaderKillsPlan& plan, std::size_t number, Ledger& ledger)
      : number_{number},
        ttl_{plan.ttl},
        ledger_{ledger},
        client_{*Client::connect(plan.url)},
        store_{*client_.store()} {
    thread_ = std::jthread{[this](std::stop_token stop) {
      while (!stop.stop_requested()) turn(stop);
    }};
  }

  std::uint64_t turns() const { return turns_; }
  void stop() { thread_.request_stop(); }

 private:
  void turn(std::stop_token stop) {
    const std::size_t lock = number_ % kLocks;
    const std::string name = "counter " + std::to_string(lock);
    auto lease = client_.acquire(name, {.ttl = ttl_, .wait = 5s}, stop);
    if (!lease) return;
    {
      const std::lock_guard guard{ledger_.mutex};
      if (!ledger_.accounts[lock].tokens.insert(lease->token()).second) {
        ++ledger_.duplicate_tokens;
      }
    }
    auto resource = store_.open(name, *lease);
    if (!resource) return;
    const auto entry = resource->read();
    if (!entry) return;
    const std::uint64_t count = *entry ? std::stoull((*entry)->value) : 0;
    const auto receipt = resource->write(std::to_string(count + 1));
    const std::lock_guard guard{ledger_.mutex};
    if (receipt) {
      ledger_.accounts[lock].applied.push_back({receipt->version, receipt->token});
      ++turns_;
    } else if (receipt.error().code == Errc::unknown_outcome) {
      ++ledger_.accounts[lock].unknown;
    }
  }

  std::size_t number_;
  Millis ttl_;
  Ledger& ledger_;
  Client client_;
  Store store_;
  std::atomic<std::uint64_t> turns_{0};
  std::jthread thread_;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

/// Every worker gets a turn.
void wait_for_progress(const Workers& workers) {
  std::vector<std::uint64_t> before;
  for (const auto& worker : workers) before.push_back(worker->turns());
  const TimePoint limit = BootClock::now() + kPatience;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    while (workers[i]->turns() == before[i] && BootClock::now() < limit) {
      let_pass(10ms);
    }
    EXPECT_GT(workers[i]->turns(), before[i]) << "worker " << i << " stands still";
  }
}

/// What was stored against what was confirmed.
void audit(Ledger& ledger, const std::string& url, int kills) {
  Client reader = *Client::connect(url);
  std::uint64_t applied = 0;
  std::uint64_t unknown = 0;
  int stale = 0;
  for (std::size_t i = 0; i < kLocks; ++i) {
    Ledger::Account& account = ledger.accounts[i];
    const auto entry = reader.store()->get("counter " + std::to_string(i));
    EXPECT_TRUE(entry && *entry);
    if (!entry || !*entry) continue;
    const std::uint64_t count = std::stoull((*entry)->value);
    EXPECT_GE(count, account.applied.size()) << "an update was lost";
    EXPECT_LE(count, account.applied.size() + account.unknown) << "an update was made twice";
    std::ranges::sort(account.applied, {}, &Ledger::Write::version);
    for (std::size_t k = 1; k < account.applied.size(); ++k) {
      if (account.applied[k].token < account.applied[k - 1].token) ++stale;
    }
    applied += account.applied.size();
    unknown += account.unknown;
  }
  EXPECT_EQ(stale, 0);
  EXPECT_EQ(ledger.duplicate_tokens, 0);
  std::cout << kills << " leaders killed, " << applied << " updates, " << unknown
            << " of unknown outcome, " << stale << " stale, " << ledger.duplicate_tokens
            << " duplicate tokens\n";
}

}  // namespace

void run_leader_kills(const LeaderKillsPlan& plan) {
  Ledger ledger;
  Workers workers;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    workers.push_back(std::make_unique<Worker>(plan, i, ledger));
  }
  wait_for_progress(workers);
  int kills = 0;
  const TimePoint end = BootClock::now() + campaign_time();
  while (BootClock::now() < end) {
    const TimePoint next = BootClock::now() + kBetweenKills;
    plan.kill_leader();
    ++kills;
    wait_for_progress(workers);
    plan.restart();
    let_pass(std::chrono::ceil<Millis>(next - BootClock::now()));
  }
  // Else the experiment shows little. Progress of everybody may take as long again as was planned.
  EXPECT_GE(kills, campaign_time() / (2 * kBetweenKills));
  for (const auto& worker : workers) worker->stop();
  workers.clear();
  audit(ledger, plan.url, kills);
}

}  // namespace holdfast::campaigns
