// Witness: reads the trace of a world and writes into the journal what the nodes did, what the
// network lost and what the clients were told. Owners, which are secrets, go by names: alice#1 is
// the first owner under which the nodes heard of alice.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world/world.h"
#include "tests/transcripts/journal.h"

namespace holdfast::transcripts {

class Witness {
 public:
  /// World and journal outlive the witness. `clients` names the world's clients in their order.
  Witness(sim::World& world, Journal& journal, std::vector<std::string> clients);

  /// Writes down what happened since the last call.
  void catch_up();

  /// The name of an owner, as in a key's value or as a fingerprint.
  std::string name_of(const std::string& owner) const;

  /// The locks that nodes were asked for, in the order of their first appearance.
  const std::vector<std::string>& locks() const { return locks_; }

 private:
  enum class Kind : std::uint8_t { client, node, resource };
  struct Place {
    Kind kind{Kind::resource};
    std::size_t index{0};
  };
  Place place_of(sim::HostId host) const;

  void see(const sim::Event& event);
  void see_script(const sim::Event& event, std::size_t node);
  void see_warning(const sim::Event& event, const std::string& client);
  void see_loss(const sim::Event& event);
  void meet(const redis::ScriptCall& call, const std::string& client);
  std::string describe(const sim::Execution& execution) const;
  std::string describe_take(const sim::Execution& execution) const;

  sim::World& world_;
  Journal& journal_;
  std::vector<std::string> clients_;
  std::size_t events_seen_{0};
  std::vector<std::size_t> scripts_seen_;
  /// Numbers of the requests that a node ran.
  std::set<std::uint64_t> ran_;
  std::map<std::string, std::string> names_;
  std::map<std::string, int> owners_of_client_;
  std::vector<std::string> locks_;
};

}  // namespace holdfast::transcripts
