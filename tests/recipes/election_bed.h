// The ground the tests of elections stand on: candidates, each at a client of its own.

#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/election.h"
#include "tests/recipes/recipe_engines.h"

namespace holdfast::recipes {

using namespace std::chrono_literals;
using contract::eventually;
using contract::kPatience;

/// A candidate that works until it is told to stop, and remembers what happened to it.
class Worker {
 public:
  Worker(Client client, std::string id, Millis ttl, AfterTerm after = AfterTerm::campaign_again);

  Candidate& candidate() { return *candidate_; }
  const std::string& id() const { return id_; }
  bool leads() const { return working_.load(); }
  int terms() const { return terms_.load(); }
  /// Of the last term.
  Token epoch() const { return epoch_.load(); }
  TimePoint elected_at() const { return elected_at_.load(); }
  int losses() const { return losses_.load(); }
  LossReason loss() const { return loss_.load(); }
  /// Leaves the election.
  void leave() { candidate_.reset(); }

 private:
  void work(const Leadership& term, const std::stop_token& stop);

  std::string id_;
  std::atomic<bool> working_{false};
  std::atomic<int> terms_{0};
  std::atomic<Token> epoch_{Token{0}};
  std::atomic<TimePoint> elected_at_{TimePoint{}};
  std::atomic<int> losses_{0};
  std::atomic<LossReason> loss_{LossReason::none};
  std::optional<Candidate> candidate_;
};

class ElectionTest : public contract::ContractTest {
 protected:
  static constexpr const char* kName = "billing";

  /// Joins the election, and waits until it leads or is seen to wait.
  std::unique_ptr<Worker> leader(const std::string& id);
  std::unique_ptr<Worker> stand_in(const std::string& id);

  /// Long where the engine has sessions that end with their processes.
  Millis ttl() const;

  /// A process of its own that leads, as a candidate of that id.
  std::unique_ptr<contract::Actor> foreign_leader(const std::string& id);

  bool is_led_by(const std::string& id);
  /// Whether the engine shows who waits.
  bool shows_waiters() const { return GetParam().can.fifo; }
};

}  // namespace holdfast::recipes
