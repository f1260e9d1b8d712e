#include "bench/postgres/server_load.h"

#include <thread>

#include "bench/load.h"

namespace holdfast::bench {
namespace {

constexpr Millis kTtl{9'000};
/// Renewed so rarely that the holder itself sends nothing meanwhile.
constexpr Millis kLongTtl{600'000};
constexpr Duration kWatched = kTtl;

}  // namespace

Result<void> add_idle_waiters(Report& report, const PostgresServer&, const Progress& progress) {
  progress("1 000 calls that wait");
  const auto server = PostgresServer::start(PostgresServer::Log::statements);
  if (!server) return Unexpected{server.error()};
  auto holder = Client::connect((*server)->url("lease"));
  if (!holder) return Unexpected{holder.error()};
  std::vector<Lease> leases;
  take(*holder, kWaiters, {.ttl = kLongTtl}, leases);
  auto client = Client::connect((*server)->url("lease"));
  if (!client) return Unexpected{client.error()};
  const Waiters waiters{*client, kTtl};
  // Until all of them wait.
  std::this_thread::sleep_for(kTtl / 3);
  const double before = (*server)->statements();
  std::this_thread::sleep_for(kWatched);
  const double queries = (*server)->statements() - before;
  report.cases.push_back(load_case("1 000 waiting calls, queries in a TTL", queries, "none", 0));
  return {};
}

}  // namespace holdfast::bench
