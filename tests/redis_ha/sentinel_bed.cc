#include "tests/redis_ha/sentinel_bed.h"

#include <csignal>

#include "base/assert.h"
#include "tests/redis_ha/cluster_bed.h"

namespace holdfast::ha {
namespace {

std::vector<std::string> with_port(std::uint16_t port, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--port", std::to_string(port)});
  arguments.insert(arguments.end(), {"--repl-diskless-sync-delay", "0"});
  arguments.insert(arguments.end(), {"--repl-ping-replica-period", "1"});
  return arguments;
}

/// Noticed within a second: the master hangs, or has gone.
std::string configuration(std::uint16_t port, std::uint16_t master) {
  return "port " + std::to_string(port) + "\nsentinel monitor main 127.0.0.1 " +
         std::to_string(master) +
         " 2\nsentinel down-after-milliseconds main 1000\n"
         "sentinel failover-timeout main 5000\n";
}

bool says(ports::ServerConnection& connection,
          const std::vector<std::string>& words,
          const std::string& text) {
  const auto reply = connection.command(words);
  return reply && reply->text.find(text) != std::string::npos;
}

}  // namespace

SentinelBed::Server::Server(std::vector<std::string> arguments)
    : port{ports::free_port()},
      process{with_port(port, std::move(arguments))},
      connection{process.socket()} {}

SentinelBed::Sentinel::Sentinel(std::uint16_t master)
    : port{ports::free_port()},
      process{ports::RedisProcess::Sentinel{configuration(port, master)}},
      connection{process.socket()} {}

SentinelBed::SentinelBed() {
  // hiredis writes to connections that a server may have closed.
  std::signal(SIGPIPE, SIG_IGN);
  servers_.emplace_back(std::vector<std::string>{});
  const std::string master = std::to_string(port(0));
  servers_.emplace_back(std::vector<std::string>{"--replicaof", "127.0.0.1 " + master});
  const auto follows = [&] {
    return says(servers_[1].connection, {"INFO", "replication"}, "master_link_status:up");
  };
  HOLDFAST_ASSERT(eventually(follows));
  for (std::size_t i = 0; i < kSentinels; ++i) sentinels_.emplace_back(port(0));
  for (Sentinel& sentinel : sentinels_) {
    const auto knows_all = [&] {
      return says(sentinel.connection, {"INFO", "sentinel"}, "status=ok") &&
             says(sentinel.connection, {"INFO", "sentinel"}, "slaves=1,sentinels=3");
    };
    HOLDFAST_ASSERT(eventually(knows_all));
  }
}

std::string SentinelBed::url(const std::string& parameters) const {
  std::string text;
  for (const Sentinel& sentinel : sentinels_) {
    text += (text.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(sentinel.port);
  }
  return "redis+sentinel://" + text + "/main" + parameters;
}

redis::Reply SentinelBed::command(std::size_t number, const std::vector<std::string>& words) {
  ports::ServerConnection& connection = servers_[number].connection;
  auto reply = connection.command(words);
  // A server that takes over has its connections closed.
  if (!reply) reply = connection.command(words);
  return reply ? *std::move(reply) : redis::Reply::of_error(reply.error().message);
}

void SentinelBed::ask_for_failover() {
  const auto begun = [&] {
    return says(sentinels_[0].connection, {"SENTINEL", "FAILOVER", "main"}, "OK");
  };
  HOLDFAST_ASSERT(eventually(begun));
}

}  // namespace holdfast::ha
