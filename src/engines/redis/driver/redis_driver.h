// RedisDriver: the RedisPort over real sockets.
//
// One connection carries all requests: what is sent within one turn of the loop leaves in one
// write. A second one, made when first needed, carries all subscriptions. Both are made again when
// they break. Scripts go by their hashes, and by their text where the server does not know them.
//
// Thread safety: every member is called on the Env's thread; the destructor on any.
// Lifetime: the Env outlives it. Destroying it closes the connections and drops the callbacks
// without calling them; the tasks that wait for them unwind. A callback may drop its last owner.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "engines/redis/driver/redis_target.h"
#include "engines/redis/redis_port.h"
#include "runtime/asio_env.h"

namespace holdfast::redis {

class RequestLine;
class SubscriptionLine;

/// A channel to hear.
struct Subscription {
  enum class Reach : std::uint8_t {
    /// SUBSCRIBE: whatever any server of a cluster is told.
    everywhere,
    /// SSUBSCRIBE: what the servers of the channel's slot are told.
    slot,
  };

  std::string channel;
  Reach reach{Reach::everywhere};
  OnHeard on_heard;
  /// Nothing is heard for now. The connection broke, and is made again; or the server does not
  /// serve the slot, and does not subscribe any more. Called between tasks of the Env.
  std::function<void()> on_silence{};
};

struct RedisDriverSettings {
  /// How often a connection with subscriptions is tried by a PING. One that is silent for as long
  /// is given up.
  Duration heartbeat{std::chrono::seconds{5}};
  /// A connection on which a request is overdue and nothing was heard for as long is given up.
  Duration silence{std::chrono::seconds{1}};
  /// Between attempts to connect.
  BackoffPolicy backoff{};
};

class RedisDriver final : public RedisPort {
 public:
  /// What has happened so far; for tests and measurements.
  struct Stats {
    /// Writes that carried requests, and the requests in them.
    std::uint64_t writes{0};
    std::uint64_t requests{0};
    /// Requests repeated because the server did not know a script.
    std::uint64_t scripts_resent{0};
    /// Connections that became ready, and how many of those broke.
    std::uint64_t connections{0};
    std::uint64_t interruptions{0};
    std::uint64_t subscription_connections{0};
    std::uint64_t subscription_interruptions{0};
  };

  /// Connects to nothing yet. Any thread. Reads the files of the TLS settings.
  /// invalid_argument: one of them cannot be used, or the socket's path is too long.
  static Result<std::shared_ptr<RedisDriver>> create(runtime::AsioEnv& env,
                                                     RedisTarget target,
                                                     RedisDriverSettings settings = {});
  ~RedisDriver() override;
  RedisDriver(const RedisDriver&) = delete;
  RedisDriver& operator=(const RedisDriver&) = delete;

  /// Begins to connect; the first request does so otherwise.
  void connect();

  /// A request that cannot leave waits for a connection until its deadline.
  ///
  /// Beside what RedisPort says, at once instead of at the deadline, and the request never left:
  /// denied: the server does not accept the credentials, or one side the other's certificate.
  /// invalid_argument: the server has no such database.
  /// unavailable: what answers there is not a Redis server.
  /// Requests sent afterwards try again, no more often than the backoff says.
  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) override;

  /// The same for a command that is not a script, such as `INFO`. Precondition: `words` is not
  /// empty, and the command has one answer.
  void command(std::vector<std::string> words, TimePoint answer_by, OnAnswer on_answer);

  void subscribe(std::string channel, OnHeard on_heard) override;
  void unsubscribe(const std::string& channel) override;

  /// The same for who has more servers to choose from.
  void subscribe(Subscription subscription);
  /// Whether it is subscribed, or will be as soon as there is a connection.
  bool subscribes(const std::string& channel) const;

  /// Another server is in charge now: requests that have not left are answered unavailable at once.
  void retire();

  const RedisTarget& target() const;

  Stats stats() const;

 private:
  RedisDriver(runtime::AsioEnv& env,
              std::shared_ptr<RequestLine> requests,
              std::shared_ptr<SubscriptionLine> subscriptions);

  runtime::AsioEnv& env_;
  std::shared_ptr<RequestLine> requests_;
  std::shared_ptr<SubscriptionLine> subscriptions_;
};

}  // namespace holdfast::redis
