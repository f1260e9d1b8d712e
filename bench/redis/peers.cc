#include "bench/redis/peers.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "bench/redis/callers.h"
#include "bench/redis/hand_over.h"

namespace holdfast::bench {
namespace {

constexpr auto kSeconds = "2";

struct Peer {
  std::string name;
  double p50_ns{0};
  double hand_over_p50_ns{0};
};

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  return pclose(pipe) == 0 ? text : std::string{};
}

std::optional<Peer> run(const std::string& program, std::uint16_t port) {
  const std::string command = "'" + program + "' " + std::to_string(port) + ' ' + kSeconds;
  boost::system::error_code wrong;
  const auto value = boost::json::parse(output_of(command), wrong);
  const auto* const figures = wrong ? nullptr : value.if_object();
  if (figures == nullptr || !figures->contains("name") || !figures->contains("p50_ns")) return {};
  Peer peer{.name = std::string{figures->at("name").as_string()},
            .p50_ns = figures->at("p50_ns").to_number<double>()};
  if (const auto* const hand_over = figures->if_contains("hand_over_p50_ns")) {
    peer.hand_over_p50_ns = hand_over->to_number<double>();
  }
  return peer;
}

const Case* find(const Report& report, std::string_view name) {
  for (const Case& one : report.cases) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

void compare(Report& report, std::string_view name, const std::string& peer, double theirs) {
  const Case* const ours = find(report, name);
  if (ours == nullptr || theirs <= 0) return;
  Case one = *ours;
  one.limit_name = peer;
  one.limit = theirs;
  one.ratio = theirs / one.p50_ns;
  one.target = 0;
  report.cases.push_back(std::move(one));
}

std::vector<std::string> programs(Peers peers) {
  const std::filesystem::path root{HOLDFAST_PEERS};
  std::vector<std::string> found;
  for (const char* name : {"redis-py", "node-redlock", "redsync", "redisson"}) {
    const auto program = root / name / "run";
    if (std::filesystem::exists(program)) found.push_back(program.string());
    if (peers == Peers::at_hand) break;
  }
  return found;
}

}  // namespace

void add_peers(Report& report, const RedisServer& server, Peers peers, const Progress& progress) {
  for (const std::string& program : programs(peers)) {
    progress("peer " + std::filesystem::path{program}.parent_path().filename().string());
    const auto peer = run(program, server.port());
    if (!peer) continue;
    compare(report, kOneCaller, peer->name, peer->p50_ns);
    compare(report, kHandOver, peer->name, peer->hand_over_p50_ns);
  }
}

}  // namespace holdfast::bench
