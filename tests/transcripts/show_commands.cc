// Looking at nodes, clients and the resource.

#include <algorithm>
#include <array>

#include "engines/redlock/node_set.h"
#include "tests/transcripts/verbs.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

/// The lock at a node: "alice#1's with grant 3, 6.500s left".
std::optional<std::string> lock_text(Stage& stage, sim::RedisNode& node, const std::string& lock) {
  const std::string key = "hf:" + lock;
  const auto value = node.get(key);
  if (!value) return std::nullopt;
  const Millis left{node.command({"PTTL", key}).integer};
  const std::string rest = value->substr(value->find(':') + 1);
  const std::string number = rest.substr(0, rest.find(':'));
  const std::string grant = number == "0" ? "" : " with " + number;
  return stage.witness().name_of(*value) + "'s" + grant + ", " + in_seconds(left) + " left";
}

std::string node_text(Stage& stage, std::size_t index) {
  sim::RedisNode& node = stage.world().node(index);
  if (!node.up()) return node_name(index) + ": down";
  std::vector<std::string> parts;
  for (const std::string& lock : stage.witness().locks()) {
    parts.push_back(lock + " is " + lock_text(stage, node, lock).value_or("free"));
    const auto count = node.get("hf:\x01token:" + lock);
    if (count) parts.push_back("its counter is at " + *count);
  }
  const std::string of_redlock = redlock::Keys::high_of("hf:", {});
  const auto highest = std::max(node.get("hf:\x01token"), node.get(of_redlock));
  if (highest && *highest != "0") {
    parts.push_back("the highest given is " + *highest);
  }
  return node_name(index) + ": " + (parts.empty() ? "empty" : joined(parts, ", "));
}

bool stands(const sim::LeaseView& lease) {
  return lease.state() == LeaseState::held || lease.state() == LeaseState::jeopardy;
}

std::string left_text(Stage& stage, const sim::LeaseView& lease) {
  const std::string number = std::to_string(lease.token().value());
  const std::string token = lease.token() == Token{0} ? "no token" : "token " + number;
  return token + ", " + in_seconds(lease.valid_until() - stage.world().now()) + " left";
}

std::string client_text(Stage& stage, sim::ClientId client) {
  const sim::SimEnv& env = stage.world().client(client).env();
  if (env.killed()) return stage.name(client) + ": crashed";
  std::vector<std::string> parts;
  if (env.paused()) parts.emplace_back("paused");
  for (const std::string& lock : stage.witness().locks()) {
    const auto holding = stage.holding(client, lock);
    if (!holding) continue;
    const sim::LeaseView& lease = (*holding)->lease;
    const bool jeopardy = lease.state() == LeaseState::jeopardy;
    std::string text = lock + (jeopardy ? " is in " : " is ");
    text += to_string(lease.state());
    if (stands(lease)) text += " with " + left_text(stage, lease);
    if (lease.state() == LeaseState::lost) {
      text += " (" + std::string{to_string(lease.loss_reason())} + ")";
    }
    parts.push_back(text);
  }
  return stage.name(client) + ": " + (parts.empty() ? "has no lease" : joined(parts, ", "));
}

Result<void> show_resource(Stage& stage) {
  for (const std::string& lock : stage.witness().locks()) {
    const auto at = stage.value_of(lock);
    if (!at) return Unexpected{at.error()};
    const auto value = stage.world().servers().resource.value(*at);
    stage.show("resource: " + lock + " is " + std::to_string(value));
  }
  return {};
}

Result<void> show(Stage& stage, const Command& command) {
  stage.look();
  for (const std::string& word : command.words) {
    if (word == "resource") {
      if (const auto shown = show_resource(stage); !shown) return shown;
    } else if (const auto node = stage.node(word)) {
      stage.show(node_text(stage, *node));
    } else {
      const auto client = stage.client(word);
      if (!client) return wrong("there is no client and no node '" + word + "'");
      stage.show(client_text(stage, *client));
    }
  }
  return {};
}

Result<void> holders(Stage& stage, const Command& command) {
  const std::string& lock = command.words[0];
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < stage.setup().clients.size(); ++i) {
    const auto holding = stage.holding({i}, lock);
    if (!holding || !stands((*holding)->lease)) continue;
    parts.push_back(stage.name({i}) + " (" + left_text(stage, (*holding)->lease) + ")");
  }
  stage.show(lock + ": " + (parts.empty() ? "nobody" : joined(parts, ", ")));
  return {};
}

}  // namespace

std::span<const Verb> show_verbs() {
  static const std::array kVerbs{
      Verb{"show", "show NODE-OR-CLIENT-OR-resource…", 1, kAnyNumber, {}, &show},
      Verb{"holders", "holders LOCK", 1, 1, {}, &holders},
  };
  return kVerbs;
}

}  // namespace holdfast::transcripts
