#include "tests/transcripts/witness.h"

#include <algorithm>
#include <utility>

#include "engines/redis/redis_reply.h"

namespace holdfast::transcripts {
namespace {

// What the engines' settings say by default.
constexpr std::string_view kPrefix = "hf:";

std::string lock_of(const std::string& key) { return key.substr(kPrefix.size()); }

bool takes(std::string_view script) {
  return script == "acquire" || script == "redlock-take" || script == "plain-take";
}

bool renews(std::string_view script) {
  return script == "renew" || script == "redlock-extend" || script == "plain-extend";
}

bool is_yes(const redis::Reply& reply) { return reply.integer == 1; }

}  // namespace

Witness::Witness(sim::World& world, Journal& journal, std::vector<std::string> clients)
    : world_{world},
      journal_{journal},
      clients_{std::move(clients)},
      scripts_seen_(world.nodes(), 0) {
  for (std::size_t i = 0; i < world.nodes(); ++i) world.node(i).record_executions();
}

void Witness::catch_up() {
  const auto& events = world_.trace().events();
  while (events_seen_ < events.size()) see(events[events_seen_++]);
}

std::string Witness::name_of(const std::string& owner) const {
  const auto found = names_.find(owner.substr(0, owner.find(':')));
  return found == names_.end() ? "somebody" : found->second;
}

// Hosts join the network in this order: the resource, the nodes, the clients.
Witness::Place Witness::place_of(sim::HostId host) const {
  if (host == world_.servers().resource_host) return {};
  if (host.index <= world_.nodes()) return {Kind::node, host.index - std::size_t{1}};
  return {Kind::client, host.index - world_.nodes() - 1};
}

void Witness::see(const sim::Event& event) {
  const Place place = place_of(event.host);
  switch (event.kind) {
    case sim::EventKind::ran:
      see_script(event, place.index);
      break;
    case sim::EventKind::sent:
      // A node that answers what it did not run has nobody to run it.
      if (place.kind == Kind::node && event.number != sim::kOfNoRequest &&
          !ran_.contains(event.number)) {
        const std::string& client = clients_.at(place_of(event.peer).index);
        journal_.add_at_node(event.when, place.index, "down, " + client + " is turned away");
      }
      break;
    case sim::EventKind::lost:
      if (event.number != sim::kOfNoRequest) see_loss(event);
      break;
    case sim::EventKind::warned:
      see_warning(event, clients_.at(place.index));
      break;
    default:
      break;
  }
}

void Witness::see_script(const sim::Event& event, std::size_t node) {
  ran_.insert(event.number);
  const sim::Execution& execution = world_.node(node).executions().at(scripts_seen_[node]++);
  // A look at the server itself is about no lock.
  if (execution.call.keys.empty()) return;
  meet(execution.call, clients_.at(place_of(event.peer).index));
  journal_.add_at_node(event.when, node, describe(execution));
}

void Witness::see_warning(const sim::Event& event, const std::string& client) {
  const std::size_t space = event.text.find(' ');
  const std::string state = event.text.substr(0, space);
  const std::string reason = event.text.substr(space + 1);
  const std::string why = state == to_string(LeaseState::lost) ? " (" + reason + ")" : "";
  journal_.add(event.when, client + " hears: " + state + why);
}

void Witness::see_loss(const sim::Event& event) {
  const Place to = place_of(event.host);
  const Place from = place_of(event.peer);
  if (to.kind == Kind::node) {
    journal_.add_at_node(event.when, to.index, clients_.at(from.index) + "'s request is lost");
  } else if (from.kind == Kind::node) {
    journal_.add_at_node(
        event.when, from.index, "the answer to " + clients_.at(to.index) + " is lost");
  } else if (to.kind == Kind::resource) {
    journal_.add(event.when, clients_.at(from.index) + "'s request to the resource is lost");
  } else {
    journal_.add(event.when, "the resource's answer to " + clients_.at(to.index) + " is lost");
  }
}

void Witness::meet(const redis::ScriptCall& call, const std::string& client) {
  if (!takes(call.script->name)) return;
  const std::string& owner = call.args.at(0);
  if (!names_.contains(owner)) {
    const std::string name = client + "#" + std::to_string(++owners_of_client_[client]);
    names_[owner] = name;
    if (const auto parsed = Owner::parse(owner)) names_[parsed->fingerprint()] = name;
  }
  const std::string lock = lock_of(call.keys.at(0));
  if (std::ranges::find(locks_, lock) == locks_.end()) locks_.push_back(lock);
}

std::string Witness::describe_take(const sim::Execution& execution) const {
  const std::string lock = lock_of(execution.call.keys.at(0));
  const std::string owner = name_of(execution.call.args.at(0));
  if (redis::is_busy(execution.reply)) {
    return owner + " is refused, " + name_of(execution.reply.items.at(1).text) + " has " + lock;
  }
  const auto grant = redis::read_acquire(execution.reply);
  if (!grant) return owner + " is refused: " + grant.error().message;
  std::string number = " with grant " + std::to_string(grant->value());
  if (execution.call.script->name == "acquire") {
    number = " with token " + std::to_string(grant->value());
  } else if (*grant == Token{0}) {
    number.clear();
  }
  return owner + " gets " + lock + number;
}

std::string Witness::describe(const sim::Execution& execution) const {
  const redis::ScriptCall& call = execution.call;
  const std::string_view script = call.script->name;
  if (takes(script)) return describe_take(execution);
  if (renews(script)) {
    std::string text;
    // Redlock's begin with the key of its set.
    const std::size_t first = script == "renew" ? 0 : 1;
    for (std::size_t i = 0; i < execution.reply.items.size(); ++i) {
      if (!text.empty()) text += ", ";
      text += name_of(call.args.at(i + 1));
      text += is_yes(execution.reply.items[i]) ? " renews " : " may not renew ";
      text += lock_of(call.keys.at(first + i * 2));
    }
    return text;
  }
  const std::string lock = lock_of(call.keys.at(0));
  const std::string owner = name_of(call.args.at(0));
  const bool yes = is_yes(execution.reply);
  if (script == "redlock-repair") {
    return owner + (yes ? " has " + lock + " here again" : " cannot have " + lock + " here");
  }
  if (script == "redlock-confirm") {
    return owner + "'s token " + call.args.at(1) + (yes ? " is confirmed" : " is not confirmed");
  }
  return owner + (yes ? " gives " + lock + " back" : " has no " + lock + " to give back");
}

}  // namespace holdfast::transcripts
