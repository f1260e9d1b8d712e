#include "bench/redis/server.h"

#include <vector>

#include "bench/redis/bare_client.h"

namespace holdfast::bench {

Result<std::unique_ptr<RedisServer>> RedisServer::start() {
  std::unique_ptr<RedisServer> server{new RedisServer};
  server->port_ = free_port();
  std::vector<std::string> words{"redis-server", "--bind", "127.0.0.1", "--save", ""};
  words.insert(words.end(), {"--port", std::to_string(server->port_), "--appendonly", "no"});
  words.insert(words.end(), {"--dir", server->directory_.path()});
  const auto answers = [&] { return BareClient::connect(server->port_).has_value(); };
  const auto started = server->process_.start(
      std::move(words), answers, "install Redis, for example: apt-get install redis-server");
  if (!started) return Unexpected{started.error()};
  return server;
}

}  // namespace holdfast::bench
