#include "bench/peers.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

namespace holdfast::bench {
namespace {

constexpr auto kSeconds = "2";

struct Peer {
  std::string name;
  /// Which of our cases it is compared in.
  std::string of{kOneCaller};
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

std::optional<Peer> read(const std::string& line) {
  boost::system::error_code wrong;
  const auto value = boost::json::parse(line, wrong);
  const auto* const figures = wrong ? nullptr : value.if_object();
  if (figures == nullptr || !figures->contains("name") || !figures->contains("p50_ns")) return {};
  Peer peer{.name = std::string{figures->at("name").as_string()},
            .p50_ns = figures->at("p50_ns").to_number<double>()};
  if (const auto* const of = figures->if_contains("case")) {
    peer.of = std::string{of->as_string()};
  }
  if (const auto* const hand_over = figures->if_contains("hand_over_p50_ns")) {
    peer.hand_over_p50_ns = hand_over->to_number<double>();
  }
  return peer;
}

/// One for each line it prints.
std::vector<Peer> run(const std::string& program, std::uint16_t port) {
  const std::string command = "'" + program + "' " + std::to_string(port) + ' ' + kSeconds;
  std::istringstream output{output_of(command)};
  std::vector<Peer> peers;
  for (std::string line; std::getline(output, line);) {
    if (auto peer = read(line)) peers.push_back(*std::move(peer));
  }
  return peers;
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

}  // namespace

void add_peers(Report& report,
               const PeerPrograms& programs,
               std::uint16_t port,
               Peers peers,
               const Progress& progress) {
  std::vector<std::string> names = programs.at_hand;
  if (peers == Peers::all) {
    names.insert(names.end(), programs.fetched.begin(), programs.fetched.end());
  }
  for (const std::string& name : names) {
    const auto program = std::filesystem::path{HOLDFAST_PEERS} / name / "run";
    if (!std::filesystem::exists(program)) continue;
    progress("peer " + name);
    const std::vector<Peer> found = run(program.string(), port);
    if (found.empty()) progress("no peer " + name + ": it cannot be run here");
    for (const Peer& peer : found) {
      compare(report, peer.of, peer.name, peer.p50_ns);
      compare(report, kHandOver, peer.name, peer.hand_over_p50_ns);
    }
  }
}

}  // namespace holdfast::bench
