#include "tests/redlock/campaign.h"

#include <poll.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

#include "client/redlock_admin.h"

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTtl{1000};
constexpr Millis kLongestTtl{2000};

std::vector<std::string> arguments_for(Persistence persistence) {
  if (persistence == Persistence::none) return {};
  return {"--appendonly", "yes", "--appendfsync", "always"};
}

void judge_one(std::vector<Held>& leases, Findings& findings) {
  // By the time they were asked for, against all that had been granted by then.
  std::ranges::sort(leases, {}, &Held::granted_at);
  std::vector<const Held*> asked;
  for (const Held& lease : leases) asked.push_back(&lease);
  std::ranges::sort(asked, {}, [](const Held* lease) { return lease->asked_at; });
  Token highest{0};
  auto granted = leases.begin();
  for (const Held* lease : asked) {
    for (; granted != leases.end() && granted->granted_at < lease->asked_at; ++granted) {
      highest = std::max(highest, granted->token);
    }
    if (lease->token < highest) ++findings.inversions;
  }
  for (std::size_t i = 1; i < leases.size(); ++i) {
    if (leases[i].granted_at < leases[i - 1].ended_at) ++findings.overlaps;
  }
  std::ranges::sort(leases, {}, &Held::token);
  for (std::size_t i = 1; i < leases.size(); ++i) {
    if (leases[i].token == leases[i - 1].token) ++findings.duplicates;
  }
}

}  // namespace

void let_pass(Millis time) { poll(nullptr, 0, static_cast<int>(time.count())); }

Findings judge(std::vector<Held> leases) {
  std::map<std::string, std::vector<Held>> by_name;
  for (Held& lease : leases) by_name[lease.name].push_back(std::move(lease));
  Findings findings;
  for (auto& [name, some] : by_name) judge_one(some, findings);
  return findings;
}

Campaign::Campaign(Persistence persistence) {
  std::vector<std::string> sockets;
  for (std::size_t node = 0; node < 3; ++node) {
    nodes_.push_back(std::make_unique<ports::RedisProcess>(arguments_for(persistence)));
    sockets.push_back(nodes_.back()->socket());
  }
  const std::string begin = "redlock+unix://";
  // Where nobody listens.
  const std::string nowhere = sockets[1] + ".unreachable";
  url_ = begin + sockets[0] + ',' + sockets[1] + ',' + sockets[2];
  halves_ = {begin + sockets[0] + ',' + sockets[1] + ',' + nowhere,
             begin + nowhere + ',' + sockets[1] + ',' + sockets[2]};
  const auto set = found_redlock(url_, {.longest_ttl = kLongestTtl}, nullptr, {});
  if (!set) throw std::runtime_error{set.error().message};
}

Campaign::~Campaign() { stop(); }

void Campaign::start() {
  for (std::size_t client = 0; client < 4; ++client) {
    clients_.emplace_back(
        [this, client](const std::stop_token& stop) { work(half(client % 2), client, stop); });
  }
}

void Campaign::stop() { clients_.clear(); }

void Campaign::kill(std::size_t node) {
  nodes_.at(node)->restart();
  ++kills_;
}

std::size_t Campaign::granted() const {
  const std::lock_guard lock{guard_};
  return leases_.size();
}

void Campaign::work(const std::string& url, std::uint64_t seed, const std::stop_token& stop) {
  std::mt19937_64 dice{seed};
  auto client = Client::connect(url + "?timeout=1s");
  while (!client && !stop.stop_requested()) client = Client::connect(url + "?timeout=1s");
  while (!stop.stop_requested()) {
    Held held;
    held.name = dice() % 2 == 0 ? "ledger" : "report";
    held.asked_at = BootClock::now();
    auto lease = client->acquire(held.name, {.ttl = kTtl, .wait = 2s}, stop);
    if (!lease) continue;
    held.granted_at = BootClock::now();
    held.token = lease->token();
    if (dice() % 4 == 0) let_pass(Millis{dice() % 4});
    held.ended_at = std::min(BootClock::now(), lease->valid_until());
    lease->release();
    const std::lock_guard lock{guard_};
    leases_.push_back(std::move(held));
  }
}

}  // namespace holdfast::redlock
