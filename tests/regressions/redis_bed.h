// RedisBed: a server, a client at it, a client whose network the test controls, and a way past
// both.

#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <stdexcept>

#include "holdfast/client.h"
#include "tests/ports/redis_process.h"
#include "tests/regressions/raw_redis.h"
#include "tests/servers/fault_proxy.h"

namespace holdfast::regressions {

using namespace std::chrono_literals;

/// Far longer than anything here takes; a test that needs it fails.
inline constexpr std::chrono::seconds kBound{30};

/// Whether the condition comes true, however often it must be asked.
template <class Condition>
bool eventually(Condition condition) {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    if (condition()) return true;
    poll(nullptr, 0, /*timeout=*/1);
  }
  return false;
}

/// Watches for as long as that takes: what must not happen needs time in which it could.
inline void let_pass(Millis time) { poll(nullptr, 0, static_cast<int>(time.count())); }

class RedisBed : public testing::Test {
 protected:
  /// The Client behind the proxy.
  Client connect_behind_proxy() {
    auto client = Client::connect(proxy_.url() + "?timeout=20s");
    if (!client) throw std::runtime_error{client.error().message};
    // So that it connects, and the server knows the scripts: each request is one from now on.
    if (!client->acquire("ready")) throw std::runtime_error{"no lock behind the proxy"};
    return *std::move(client);
  }
  bool queued(std::size_t waiters) {
    return eventually([&] { return client_.inspect("x")->waiters.size() == waiters; });
  }

  ports::RedisProcess server_;
  servers::FaultProxy proxy_{server_.socket()};
  RawRedis raw_{server_.socket()};
  Client client_ = *Client::connect("redis+unix://" + server_.socket());
};

}  // namespace holdfast::regressions
