// A campaign on three real nodes: clients that see different majorities of them, and a killer.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/client.h"
#include "tests/ports/redis_process.h"

namespace holdfast::redlock {

/// One lease that somebody was given.
struct Held {
  std::string name;
  Token token{0};
  TimePoint asked_at;
  TimePoint granted_at;
  /// From when it was given up, or could not be relied on any more.
  TimePoint ended_at;
};

struct Findings {
  std::size_t duplicates{0};
  /// Pairs of leases, one granted before the other was asked for, with falling tokens.
  std::size_t inversions{0};
  /// Pairs of leases of one name that stood at the same time.
  std::size_t overlaps{0};
};

Findings judge(std::vector<Held> leases);

/// The campaign goes on meanwhile.
void let_pass(Millis time);

enum class Persistence : std::uint8_t { always, none };

class Campaign {
 public:
  explicit Campaign(Persistence persistence);
  /// Ends the clients.
  ~Campaign();
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Four clients, half of which see nodes 1 and 2 only, half nodes 2 and 3.
  void start();
  void stop();

  /// Kill -9 and a new start. It has its data if it keeps any.
  void kill(std::size_t node);
  std::size_t kills() const { return kills_; }

  /// The URL of all nodes; that of one half of the clients.
  const std::string& url() const { return url_; }
  const std::string& half(std::size_t number) const { return halves_.at(number); }

  std::size_t granted() const;
  /// After stop().
  const std::vector<Held>& leases() const { return leases_; }

 private:
  void work(const std::string& url, std::uint64_t seed, const std::stop_token& stop);

  std::vector<std::unique_ptr<ports::RedisProcess>> nodes_;
  std::string url_;
  std::vector<std::string> halves_;
  std::size_t kills_{0};
  mutable std::mutex guard_;
  std::vector<Held> leases_;
  std::vector<std::jthread> clients_;
};

}  // namespace holdfast::redlock
