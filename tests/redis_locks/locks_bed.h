// LocksBed: a redis-server of the test's own, clients of ours, and one that is not.

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "holdfast/client.h"
#include "tests/ports/redis_process.h"
#include "tests/ports/server_connection.h"

namespace holdfast::redis_locks {

using namespace std::chrono_literals;

/// Far longer than anything here takes; a test that needs it fails.
inline constexpr Millis kPatience{30'000};

/// Whether the condition comes true, however often it must be asked.
template <class Condition>
bool eventually(Condition condition) {
  for (const TimePoint end = BootClock::now() + kPatience; BootClock::now() < end;) {
    if (condition()) return true;
  }
  return false;
}

class LocksBed : public testing::Test {
 protected:
  Client connect(const std::string& user = "") {
    const std::string at = user.empty() ? "" : user + "@";
    return *Client::connect("redis+unix://" + at + server_.socket());
  }
  redis::Reply command(const std::vector<std::string>& words) {
    return foreign_.command(words).value();
  }
  /// A client of SET NX PX, as others are.
  bool foreign_client_gets(const std::string& name) {
    return command({"SET", "hf:" + name, "their-secret", "NX", "PX", "60000"}).text == "OK";
  }
  static bool is_lost(const Lease& lease) { return lease.state() == LeaseState::lost; }

  ports::RedisProcess server_;
  ports::ServerConnection foreign_{server_.socket()};
  Client client_ = connect();
};

}  // namespace holdfast::redis_locks
