// Stage: a world whose clients and nodes have names, and the leases its clients believe to have.
//
// Commands change the world or begin operations; settle() lets what they began come to its end.
//
// Thread safety: none. Lifetime: operations under way refer to the stage.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/protocol.h"
#include "sim/world/world.h"
#include "tests/transcripts/journal.h"
#include "tests/transcripts/witness.h"

namespace holdfast::transcripts {

struct Setup {
  const sim::Protocol* protocol{nullptr};
  std::size_t nodes{1};
  std::vector<std::string> clients;
  std::uint64_t seed{1};
  sim::Pace pace;
};

/// A lease as its holder uses it at the resource.
struct Holding {
  sim::LeaseView lease;
  /// No two have the same.
  std::size_t holder{0};
  /// Of its last write.
  std::uint64_t sequence{0};
};

class Stage {
 public:
  explicit Stage(Setup setup);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  sim::World& world() { return *world_; }
  const Setup& setup() const { return setup_; }
  const Witness& witness() const { return *witness_; }

  // Whom a word means. invalid_argument: nobody.
  Result<sim::ClientId> client(std::string_view name) const;
  Result<std::size_t> node(std::string_view name) const;
  /// A client, a node or `resource`.
  Result<sim::HostId> host(std::string_view name) const;
  const std::string& name(sim::ClientId client) const { return setup_.clients[client.index]; }

  /// Writes down what happened so far, and so gives new owners their names.
  void look() { witness_->catch_up(); }
  /// A line of the outcome: now.
  void say(std::string words);
  /// Lines of the outcome that are of no particular time.
  void show(const std::string& line);

  /// Runs the task in the client. A paused client begins when it is resumed. invalid_argument: the
  /// client has crashed.
  Result<void> begin(sim::ClientId client, Task<void> task);
  /// Something has begun that takes a moment.
  void stir() { stirred_ = true; }

  /// Runs the world until every operation of a client that is not paused has ended, and a moment
  /// more for the messages that are under way. internal: something hangs.
  Result<void> settle();
  /// What happened since the last call.
  std::string take_outcome();

  void crash(sim::ClientId client);

  void keep(sim::ClientId client, const std::string& lock, sim::LeaseView lease);
  /// The last lease the client was granted. invalid_argument: it had none since it last started.
  Result<Holding*> holding(sim::ClientId client, const std::string& lock);

  /// Which value of the resource the lock guards. invalid_argument: too many locks.
  Result<std::size_t> value_of(const std::string& lock);

 private:
  Task<void> counted(std::size_t client, Task<void> task);
  bool settled() const;

  Setup setup_;
  Journal journal_;
  std::string shown_;
  bool stirred_{false};
  std::vector<std::string> guarded_;
  std::size_t last_holder_{0};
  /// Operations under way, by client. Outlives the world, in which they are.
  std::vector<int> under_way_;
  std::unique_ptr<sim::World> world_;
  std::unique_ptr<Witness> witness_;
  std::map<std::pair<std::size_t, std::string>, Holding> holdings_;
};

}  // namespace holdfast::transcripts
