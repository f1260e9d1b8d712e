#include "bench/postgres/server_load.h"

#include <string>
#include <thread>

#include "bench/load.h"

namespace holdfast::bench {
namespace {

constexpr Millis kTtl{9'000};
/// Renewed so rarely that the holder itself sends nothing meanwhile.
constexpr Millis kLongTtl{600'000};
constexpr Duration kWatched = kTtl;

struct Watch {
  std::string name;
  Millis ttl_of_holder;
  /// What is counted: statements with this in their text.
  std::string part;
  std::string limit_name;
  double limit;
};

/// 1 000 calls that wait for as many leases, while nothing happens to these but renewals.
Result<void> watch(Report& report, const Watch& watched) {
  const auto server = PostgresServer::start(PostgresServer::Log::statements);
  if (!server) return Unexpected{server.error()};
  auto holder = Client::connect((*server)->url("lease"));
  if (!holder) return Unexpected{holder.error()};
  std::vector<Lease> leases;
  take(*holder, kWaiters, {.ttl = watched.ttl_of_holder}, leases);
  auto client = Client::connect((*server)->url("lease"));
  if (!client) return Unexpected{client.error()};
  const Waiters waiters{*client, kTtl};
  // Until all of them wait.
  std::this_thread::sleep_for(kTtl / 3);
  const double before = (*server)->statements(watched.part);
  std::this_thread::sleep_for(kWatched);
  const double queries = (*server)->statements(watched.part) - before;
  report.cases.push_back(load_case(watched.name, queries, watched.limit_name, watched.limit));
  return {};
}

}  // namespace

Result<void> add_idle_waiters(Report& report, const PostgresServer&, const Progress& progress) {
  progress("1 000 calls that wait");
  const Watch unchanged{.name = "1 000 waiting calls, queries in a TTL",
                        .ttl_of_holder = kLongTtl,
                        .part = "",
                        .limit_name = "none",
                        .limit = 0};
  if (auto added = watch(report, unchanged); !added) return added;
  // Who is first looks when the lease it saw would have ended; up to 50 names in one statement.
  const Watch renewed{.name = "1 000 waiting, renewed, looks in a TTL",
                      .ttl_of_holder = kTtl,
                      .part = "holdfast.refresh(",
                      .limit_name = "one for 50 names in TTL/3",
                      .limit = 3 * kWaiters / 50.0};
  return watch(report, renewed);
}

}  // namespace holdfast::bench
