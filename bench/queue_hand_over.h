// How long it takes from one process's release to another's having the lock, on servers with a
// queue.
//
// Two processes; the receiver waits in the queue each time, and the giver has held the lock for a
// while. Against what it cannot do without, by plain clients in the same two processes in turns:
// one erases something, the other hears of it and makes one request.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/report.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// A plain client of the giver. Asserts that the server answers.
class BareGiver {
 public:
  virtual ~BareGiver() = default;
  virtual void put() = 0;
  virtual void erase() = 0;
  /// How many contend for the lock of that name.
  virtual std::size_t contenders(const std::string& name) = 0;
};

/// A plain client of the receiver. Asserts that the server answers.
class BareReceiver {
 public:
  virtual ~BareReceiver() = default;
  /// From now on it will hear of the next erasure.
  virtual void watch() = 0;
  virtual void wait() = 0;
  /// The request that a waiter cannot do without once it was told.
  virtual void ask() = 0;
};

struct HandOverEnds {
  std::string url;
  std::function<Result<std::unique_ptr<BareGiver>>()> giver;
  std::function<Result<std::unique_ptr<BareReceiver>>()> receiver;
  /// What `erase to event + 1.2 requests` is called.
  std::string limit_name;
};

/// Forks: the process must have one thread. Errors as Client::connect and those of the ends.
Result<void> add_queue_hand_over(Report& report, const HandOverEnds& ends);

}  // namespace holdfast::bench
