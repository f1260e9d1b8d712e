#include "tests/transcripts/journal.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

// Room for 999 seconds.
constexpr std::size_t kTimeWidth = 8;

std::string at(TimePoint when) {
  std::string time = in_seconds(when.time_since_epoch());
  if (time.size() < kTimeWidth) time.insert(0, kTimeWidth - time.size(), ' ');
  return time + "  ";
}

/// ", 3 times", or nothing where once.
std::string how_often(const std::map<std::size_t, int>& nodes) {
  std::set<int> counts;
  for (const auto& [node, count] : nodes) counts.insert(count);
  const int most = *counts.rbegin();
  if (most == 1) return "";
  return (counts.size() > 1 ? ", up to " : ", ") + std::to_string(most) + " times";
}

}  // namespace

void Journal::add(TimePoint when, std::string words) {
  lines_.push_back({when, {}, std::move(words)});
}

void Journal::add_at_node(TimePoint when, std::size_t node, const std::string& words) {
  const auto same = [&](const Line& line) { return !line.nodes.empty() && line.words == words; };
  const auto found = std::ranges::find_if(lines_, same);
  if (found != lines_.end()) {
    ++found->nodes[node];
  } else {
    lines_.push_back({when, {{node, 1}}, words});
  }
}

std::string Journal::to_text(const Line& line) {
  if (line.nodes.empty()) return at(line.when) + line.words + "\n";
  std::vector<std::string> names;
  for (const auto& [node, count] : line.nodes) names.push_back(node_name(node));
  return at(line.when) + joined(names, " ") + ": " + line.words + how_often(line.nodes) + "\n";
}

std::string Journal::take() {
  std::ranges::stable_sort(lines_, {}, &Line::when);
  std::string text;
  for (const Line& line : lines_) text += to_text(line);
  lines_.clear();
  return text;
}

}  // namespace holdfast::transcripts
