#include "cli/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "bench/etcd/etcd_bench.h"
#include "bench/local_bench.h"
#include "bench/postgres/postgres_bench.h"
#include "bench/redis/redis_bench.h"
#include "bench/zookeeper/zookeeper_bench.h"

namespace holdfast::cli {
namespace {

boost::json::object to_json(const bench::Case& one) {
  return {{"name", one.name},
          {"ops_s", one.ops_s},
          {"p50_ns", one.p50_ns},
          {"p99_ns", one.p99_ns},
          {"limit_name", one.limit_name},
          {"limit", one.limit},
          {"unit", one.unit},
          {"ratio", one.ratio},
          {"target", one.target},
          {"met", one.met()}};
}

void print_json(Console& console, const bench::Report& report) {
  boost::json::array cases;
  for (const bench::Case& one : report.cases) cases.push_back(to_json(one));
  console.print(boost::json::object{{"engine", report.engine}, {"cases", std::move(cases)}});
}

std::string quantity(double value, const std::string& unit) {
  if (unit == "cores") return fmt::format("{:.4f} cores", value);
  if (unit == "ns" && value >= 10'000) return fmt::format("{:.1f} us", value / 1000);
  return fmt::format("{:.1f} {}", value, unit);
}

std::string verdict(const Console& console, const bench::Case& one) {
  if (one.target == 0) return {};
  const std::string met =
      console.paint(one.met() ? "met" : "not met", one.met() ? Tone::good : Tone::bad);
  return fmt::format("{:>7.2f}x {}", one.target, met);
}

void print_table(Console& console, const bench::Report& report) {
  console.print(fmt::format("{:<36} {:>14} {:>14}  {:<28} {:>14} {:>8} {:>8}",
                            "case",
                            "median",
                            "99 %",
                            "against",
                            "its median",
                            "ratio",
                            "target"));
  for (const bench::Case& one : report.cases) {
    console.print(fmt::format("{:<36} {:>14} {:>14}  {:<28} {:>14} {:>7.2f}x {}",
                              one.name,
                              quantity(one.p50_ns, one.unit),
                              quantity(one.p99_ns, one.unit),
                              one.limit_name,
                              quantity(one.limit, one.unit),
                              one.ratio,
                              verdict(console, one)));
  }
  console.print("A ratio is the limit's time over ours: more is better.");
}

Result<bench::Report> measure(const BenchOptions& options, const bench::Progress& progress) {
  switch (options.engine) {
    case BenchEngine::local:
      break;
    case BenchEngine::redis:
      return bench::run_redis(options.peers, progress);
    case BenchEngine::etcd:
      return bench::run_etcd(options.peers, progress);
    case BenchEngine::zookeeper:
      return bench::run_zookeeper(options.peers, progress);
    case BenchEngine::postgres:
      return bench::run_postgres(options.peers, progress);
  }
  return bench::run_local(progress);
}

}  // namespace

int run_bench(const BenchOptions& options) {
  Console console{options.format};
  const auto progress = [&](const std::string& part) {
    console.note(fmt::format("measuring: {} …", part));
  };
  const auto report = measure(options, progress);
  if (!report) return console.fail(report.error());
  if (console.json()) {
    print_json(console, *report);
  } else {
    print_table(console, *report);
  }
  const bool met = std::ranges::all_of(report->cases, &bench::Case::met);
  return console.finish(to_int(met ? ExitCode::ok : ExitCode::finding));
}

}  // namespace holdfast::cli
