// What befalls nodes, the network and clocks.

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "tests/transcripts/verbs.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

using Ways = std::vector<std::pair<sim::HostId, sim::HostId>>;
using Words = std::vector<std::string>;

Result<std::vector<sim::HostId>> hosts(const Stage& stage, const Words& words) {
  std::vector<sim::HostId> found;
  for (const std::string& word : words) {
    const auto host = stage.host(word);
    if (!host) return Unexpected{host.error()};
    found.push_back(*host);
  }
  return found;
}

/// `A -> B C`: from A to B and to C. `A B C`: between A and B, and between A and C.
Result<Ways> ways(const Stage& stage, const Command& command) {
  const auto arrow = std::ranges::find(command.words, "->");
  const bool one_way = arrow != command.words.end();
  const auto middle = one_way ? arrow : command.words.begin() + 1;
  const auto left = hosts(stage, Words(command.words.begin(), middle));
  if (!left) return Unexpected{left.error()};
  const auto right = hosts(stage, Words(middle + (one_way ? 1 : 0), command.words.end()));
  if (!right) return Unexpected{right.error()};
  Ways found;
  for (const sim::HostId from : *left) {
    for (const sim::HostId to : *right) {
      found.emplace_back(from, to);
      if (!one_way) found.emplace_back(to, from);
    }
  }
  if (found.empty()) return wrong("between whom?");
  return found;
}

Result<void> cut(Stage& stage, const Command& command) {
  const auto found = ways(stage, command);
  if (!found) return Unexpected{found.error()};
  for (const auto& [from, to] : *found) stage.world().cut(from, to);
  return {};
}

Result<void> mend(Stage& stage, const Command& command) {
  const auto found = ways(stage, command);
  if (!found) return Unexpected{found.error()};
  for (const auto& [from, to] : *found) stage.world().mend(from, to);
  return {};
}

Result<void> clog(Stage& stage, const Command& command) {
  const auto found = ways(stage, command);
  if (!found) return Unexpected{found.error()};
  const auto time = time_option(command, "for");
  if (!time) return Unexpected{time.error()};
  sim::World& world = stage.world();
  for (const auto& [from, to] : *found) {
    world.network().way(from, to).clogged_until = world.now() + *time;
  }
  return {};
}

Result<void> lose_next(Stage& stage, const Command& command) {
  const auto found = ways(stage, command);
  if (!found) return Unexpected{found.error()};
  const auto count = number_option(command, "count", 1);
  if (!count) return Unexpected{count.error()};
  for (const auto& [from, to] : *found) {
    stage.world().network().way(from, to).lose_next = static_cast<int>(*count);
  }
  return {};
}

Result<void> stop(Stage& stage, const Command& command) {
  for (const std::string& word : command.words) {
    const auto node = stage.node(word);
    if (!node) return Unexpected{node.error()};
    if (!stage.world().node(*node).up()) return wrong(word + " is down already");
    stage.world().stop_node(*node);
  }
  return {};
}

Result<void> start(Stage& stage, const Command& command) {
  Words names = command.words;
  const bool lost = names.back() == "lost";
  if (lost) names.pop_back();
  if (names.empty()) return wrong("which node?");
  for (const std::string& word : names) {
    const auto node = stage.node(word);
    if (!node) return Unexpected{node.error()};
    if (stage.world().node(*node).up()) return wrong(word + " is up already");
    if (lost) {
      stage.world().node(*node).start(sim::Data::lost);
    } else {
      stage.world().start_node(*node);
    }
  }
  return {};
}

Result<void> step_clock(Stage& stage, const Command& command) {
  const auto by = parse_time(command.words.back());
  if (!by) return Unexpected{by.error()};
  for (std::size_t i = 0; i + 1 < command.words.size(); ++i) {
    const auto node = stage.node(command.words[i]);
    if (!node) return Unexpected{node.error()};
    stage.world().node(*node).step_clock(*by);
  }
  return {};
}

/// "+5%"
Result<sim::ClockRate> parse_rate(std::string_view text) {
  constexpr std::int64_t kPerCent = 10'000;
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.ends_with('%')) {
    const auto percent = parse_decimal<std::int64_t>(digits.substr(0, digits.size() - 1));
    if (percent && *percent >= -50 && *percent <= 50) return sim::ClockRate{*percent * kPerCent};
  }
  return wrong("'" + std::string{text} + "' is no rate such as +5%, at most 50%");
}

Result<void> set_rate(Stage& stage, const Command& command) {
  const auto rate = parse_rate(command.words.back());
  if (!rate) return Unexpected{rate.error()};
  for (std::size_t i = 0; i + 1 < command.words.size(); ++i) {
    if (const auto node = stage.node(command.words[i])) {
      stage.world().node(*node).set_clock_rate(*rate);
      continue;
    }
    const auto client = stage.client(command.words[i]);
    if (!client) return Unexpected{client.error()};
    stage.world().client(*client).env().set_clock_rate(*rate);
  }
  return {};
}

}  // namespace

std::span<const Verb> fault_verbs() {
  static const std::array kVerbs{
      Verb{"cut", "cut A [->] B…", 2, kAnyNumber, {}, &cut},
      Verb{"mend", "mend A [->] B…", 2, kAnyNumber, {}, &mend},
      Verb{"clog", "clog A [->] B… for=TIME", 2, kAnyNumber, {"for"}, &clog},
      Verb{"lose-next", "lose-next A [->] B… [count=N]", 2, kAnyNumber, {"count"}, &lose_next},
      Verb{"stop", "stop NODE…", 1, kAnyNumber, {}, &stop},
      Verb{"start", "start NODE… [lost]", 1, kAnyNumber, {}, &start},
      Verb{"step-clock", "step-clock NODE… TIME", 2, kAnyNumber, {}, &step_clock},
      Verb{"rate", "rate NODE-OR-CLIENT… PERCENT%", 2, kAnyNumber, {}, &set_rate},
  };
  return kVerbs;
}

}  // namespace holdfast::transcripts
