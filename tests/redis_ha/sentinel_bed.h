// SentinelBed: a server, its replica, and three sentinels that watch them.

#pragma once

#include <array>
#include <deque>
#include <string>

#include "tests/ports/redis_process.h"
#include "tests/ports/server_connection.h"

namespace holdfast::ha {

/// Thread safety: none. Aborts the test program when it does not come about.
class SentinelBed {
 public:
  static constexpr std::size_t kSentinels = 3;

  /// Waits until the replica follows, and every sentinel knows it and the others.
  SentinelBed();

  /// For redis+sentinel: URLs.
  std::string url(const std::string& parameters = "") const;

  /// 0: the first master; 1: the first replica.
  ports::RedisProcess& server(std::size_t number) { return servers_[number].process; }
  redis::Reply command(std::size_t number, const std::vector<std::string>& words);

  /// Tells the sentinels to let the replica take over, whatever the master does.
  void ask_for_failover();
  std::uint16_t port(std::size_t number) const { return servers_[number].port; }

 private:
  struct Server {
    explicit Server(std::vector<std::string> arguments);

    std::uint16_t port;
    ports::RedisProcess process;
    ports::ServerConnection connection;
  };
  struct Sentinel {
    explicit Sentinel(std::uint16_t master);

    std::uint16_t port;
    ports::RedisProcess process;
    ports::ServerConnection connection;
  };

  std::deque<Server> servers_;
  std::deque<Sentinel> sentinels_;
};

}  // namespace holdfast::ha
