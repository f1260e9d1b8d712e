#include "bench/redis/sharing.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kClients = 48;
constexpr int kTurnsEach = 25;
constexpr Duration kSection = 10ms;

}  // namespace

Result<void> add_sharing(Report& report, const RedisServer& server, const Progress& progress) {
  progress("48 clients with a section of 10 ms");
  std::vector<Client> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    auto client = Client::connect(server.url());
    if (!client) return Unexpected{client.error()};
    clients.push_back(*std::move(client));
  }
  std::vector<double> turns(kClients);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> all{0};
  const TimePoint begun = BootClock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kClients; ++i) {
      threads.emplace_back([&, i] {
        while (!over.load()) {
          auto lease = clients[i].acquire("shared");
          if (!lease) return;
          std::this_thread::sleep_for(kSection);
          // What comes after the end of the measurement is not counted.
          if (over.load()) return;
          turns[i] += 1;
          if (all.fetch_add(1) + 1 == kClients * kTurnsEach) over.store(true);
        }
      });
    }
  }
  const auto spent = static_cast<double>((BootClock::now() - begun).count());
  const auto [fewest, most] = std::ranges::minmax(turns);
  report.cases.push_back({.name = "48 clients, fewest turns of one",
                          .ops_s = kClients * kTurnsEach * 1e9 / spent,
                          .p50_ns = fewest,
                          .p99_ns = fewest,
                          .limit_name = "most turns of one",
                          .limit = most,
                          .unit = "turns",
                          .ratio = fewest / most,
                          .target = 0.9});
  return {};
}

}  // namespace holdfast::bench
