// The bed over a real redis-server.

#include <csignal>
#include <optional>

#include "tests/ports/redis_bed.h"
#include "tests/ports/redis_process.h"
#include "tests/ports/server_connection.h"

namespace holdfast::ports {
namespace {

std::optional<RedisProcess>& shared_server() {
  static std::optional<RedisProcess> server;
  // hiredis writes to connections that the server may have closed.
  std::signal(SIGPIPE, SIG_IGN);
  if (!server) server.emplace();
  return server;
}

class ServerListener final : public Listener {
 public:
  ServerListener(const std::string& socket, const std::string& channel) : connection_{socket} {
    const auto confirmed = connection_.command({"SUBSCRIBE", channel});
    EXPECT_TRUE(confirmed);
  }

  std::string next() override {
    const auto message = connection_.next();
    // "message", channel, text.
    if (!message || message->items.size() != 3) return {};
    return message->items[2].text;
  }

 private:
  ServerConnection connection_;
};

class ServerBed final : public RedisBed {
 public:
  ServerBed() { command({"FLUSHALL"}); }

  Result<Reply> run(const redis::ScriptCall& call) override { return connection_.eval(call); }
  Reply command(const std::vector<std::string>& words) override {
    const auto reply = foreign_.command(words);
    if (reply) return *reply;
    ADD_FAILURE() << words.front() << ": " << reply.error().message;
    return Reply::of_error("no answer");
  }
  void plant_list(const std::string& key) override {
    command({"DEL", key});
    command({"RPUSH", key, "item"});
  }
  std::unique_ptr<Listener> listen(const std::string& channel) override {
    return std::make_unique<ServerListener>(server_->socket(), channel);
  }
  void let_time_pass() override {}
  void stop() override { server_.reset(); }

 private:
  std::optional<RedisProcess>& server_ = shared_server();
  ServerConnection connection_{server_->socket()};
  ServerConnection foreign_{server_->socket()};
};

}  // namespace

std::unique_ptr<RedisBed> make_server_bed() { return std::make_unique<ServerBed>(); }

}  // namespace holdfast::ports
