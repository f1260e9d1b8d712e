// FaultyPort: a RedisPort to a real server that loses what the test tells it to lose.

#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/env.h"
#include "engines/redis/redis_port.h"
#include "tests/ports/server_connection.h"

namespace holdfast::redis_store {

enum class Fate : std::uint8_t {
  answered,
  /// The request never leaves.
  not_sent,
  /// Nor will any other: the server does not let us in.
  locked_out,
  /// It leaves and never arrives.
  request_lost,
  /// It is done, and nobody learns of it.
  answer_lost,
  /// It arrives when the test says so; until then as if it were lost.
  delayed,
  /// It never arrives, and the caller learns that only at the end of its patience.
  silence,
};

struct Fault {
  Fate fate{Fate::answered};
  /// What others do before the caller learns how it went.
  std::function<void()> meanwhile{};
};

/// Thread safety: any thread; the Env outlives it.
class FaultyPort final : public redis::RedisPort {
 public:
  FaultyPort(Env& env, std::string socket) : env_{env}, connection_{std::move(socket)} {}

  void send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) override;
  void subscribe(std::string channel, redis::OnHeard on_heard) override;
  void unsubscribe(const std::string& channel) override;

  /// For the next requests, one each.
  void expect(std::vector<Fault> faults);
  /// For all others.
  void always(Fate fate);
  /// What was delayed arrives; the server's answer, which the caller does not get.
  Result<redis::Reply> deliver();
  int sent() const;

 private:
  Result<redis::Reply> meet(const redis::SharedCall& call, Fate fate);

  Env& env_;
  mutable std::mutex mutex_;
  ports::ServerConnection connection_;
  std::deque<Fault> faults_;
  Fate usual_{Fate::answered};
  std::deque<redis::SharedCall> delayed_;
  int sent_{0};
};

}  // namespace holdfast::redis_store
