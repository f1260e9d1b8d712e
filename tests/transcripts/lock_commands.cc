// Taking and releasing locks.

#include <array>

#include "base/decimal.h"
#include "tests/transcripts/verbs.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

constexpr Duration kPatience = std::chrono::seconds{10};

std::string token_text(Token token) {
  return token == Token{0} ? "no token" : "token " + std::to_string(token.value());
}

/// The engine numbers its nodes from 0, a transcript from 1.
std::string node_of(const NodeError& error) {
  const auto index = parse_decimal<std::size_t>(error.node);
  return index ? node_name(*index) : error.node;
}

/// What the nodes said, those that said the same in one line.
std::string nodes_text(const std::vector<NodeError>& errors) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const NodeError& error : errors) {
    std::size_t at = 0;
    while (at < groups.size() && groups[at].first != error.message) ++at;
    if (at == groups.size()) groups.push_back({error.message, {}});
    groups[at].second.push_back(node_of(error));
  }
  std::string text;
  for (const auto& [message, nodes] : groups) {
    text += "\n            " + joined(nodes, " ") + ": " + message;
  }
  return text;
}

std::string refusal_text(const Stage& stage, const AcquireError& error) {
  std::string text{to_string(error.code)};
  if (error.message != text) text += ", " + error.message;
  if (error.holder) {
    text += ", " + stage.witness().name_of(error.holder->owner_fp) + " has it for " +
            in_seconds(error.holder->ttl) + " more";
  }
  return text + nodes_text(error.nodes);
}

struct Request {
  sim::ClientId client;
  std::string lock;
};

Result<Request> request_of(const Stage& stage, const Command& command) {
  const auto client = stage.client(command.words[0]);
  if (!client) return Unexpected{client.error()};
  return Request{*client, command.words[1]};
}

Task<void> acquire_now(Stage& stage, Request request, Millis ttl, Duration wait) {
  sim::SimClient& client = stage.world().client(request.client);
  LockName name{request.lock};
  const sim::Acquired acquired = co_await client.acquire(std::move(name), ttl, wait);
  const std::string& who = stage.name(request.client);
  // First what the nodes did, so that the owners have their names.
  stage.look();
  if (!acquired) {
    stage.say(who + " is refused: " + refusal_text(stage, acquired.error()));
    co_return;
  }
  const Duration left = acquired->valid_until() - stage.world().now();
  stage.say(who + " holds " + request.lock + ": " + token_text(acquired->token()) + ", valid for " +
            in_seconds(left));
  stage.keep(request.client, request.lock, *acquired);
}

Result<void> acquire(Stage& stage, const Command& command) {
  auto request = request_of(stage, command);
  if (!request) return Unexpected{request.error()};
  const auto ttl = time_option(command, "ttl");
  if (!ttl) return Unexpected{ttl.error()};
  const auto wait = time_option(command, "wait", Duration{0});
  if (!wait) return Unexpected{wait.error()};
  const sim::ClientId client = request->client;
  return stage.begin(
      client,
      acquire_now(stage, *std::move(request), std::chrono::duration_cast<Millis>(*ttl), *wait));
}

Task<void> release_now(Stage& stage, Request request, sim::LeaseView lease) {
  sim::SimClient& client = stage.world().client(request.client);
  const ReleaseOutcome outcome = co_await client.release(std::move(lease), kPatience);
  stage.say(stage.name(request.client) + " releases " + request.lock + ": " +
            std::string{to_string(outcome)});
}

Result<void> release(Stage& stage, const Command& command) {
  auto request = request_of(stage, command);
  if (!request) return Unexpected{request.error()};
  const auto holding = stage.holding(request->client, request->lock);
  if (!holding) return Unexpected{holding.error()};
  const sim::ClientId client = request->client;
  return stage.begin(client, release_now(stage, *std::move(request), (*holding)->lease));
}

}  // namespace

std::span<const Verb> lock_verbs() {
  static const std::array kVerbs{
      Verb{"acquire", "acquire CLIENT LOCK ttl=TIME [wait=TIME]", 2, 2, {"ttl", "wait"}, &acquire},
      Verb{"release", "release CLIENT LOCK", 2, 2, {}, &release},
  };
  return kVerbs;
}

}  // namespace holdfast::transcripts
