#include "engines/redis/driver/redis_driver.h"

#include <sys/un.h>

#include <utility>

#include "base/invalid.h"
#include "engines/redis/driver/request_line.h"
#include "engines/redis/driver/subscription_line.h"

namespace holdfast::redis {

Result<std::shared_ptr<RedisDriver>> RedisDriver::create(runtime::AsioEnv& env,
                                                         RedisTarget target,
                                                         RedisDriverSettings settings) {
  if (target.socket_path.size() >= sizeof(sockaddr_un::sun_path)) {
    return invalid("the path of the Redis socket is too long", "use a path of at most 107 bytes");
  }
  auto tls = make_tls_context(target);
  if (!tls) return Unexpected{std::move(tls).error()};
  const LineContext context{.env = env,
                            .target = std::make_shared<const RedisTarget>(std::move(target)),
                            .tls = std::move(*tls),
                            .backoff = settings.backoff};
  auto requests = std::make_shared<RequestLine>(context, settings.silence);
  auto subscriptions = std::make_shared<SubscriptionLine>(context, settings.heartbeat);
  return std::shared_ptr<RedisDriver>{
      new RedisDriver{env, std::move(requests), std::move(subscriptions)}};
}

RedisDriver::RedisDriver(runtime::AsioEnv& env,
                         std::shared_ptr<RequestLine> requests,
                         std::shared_ptr<SubscriptionLine> subscriptions)
    : env_{env}, requests_{std::move(requests)}, subscriptions_{std::move(subscriptions)} {}

RedisDriver::~RedisDriver() {
  requests_->abandon();
  subscriptions_->abandon();
  // Not here: a callback of theirs may be running, or this may be another thread.
  auto close = [requests = std::move(requests_), subscriptions = std::move(subscriptions_)] {
    requests->close();
    subscriptions->close();
  };
  env_.post(std::move(close));
}

void RedisDriver::connect() { requests_->connect(); }

void RedisDriver::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  requests_->send(std::move(call), answer_by, std::move(on_answer));
}

void RedisDriver::command(std::vector<std::string> words, TimePoint answer_by, OnAnswer on_answer) {
  requests_->command(std::move(words), answer_by, std::move(on_answer));
}

void RedisDriver::subscribe(std::string channel, OnHeard on_heard) {
  subscriptions_->subscribe({.channel = std::move(channel), .on_heard = std::move(on_heard)});
}

void RedisDriver::subscribe(Subscription subscription) {
  subscriptions_->subscribe(std::move(subscription));
}

bool RedisDriver::subscribes(const std::string& channel) const {
  return subscriptions_->subscribes(channel);
}

void RedisDriver::retire() { requests_->retire(); }

const RedisTarget& RedisDriver::target() const { return requests_->target(); }

void RedisDriver::unsubscribe(const std::string& channel) { subscriptions_->unsubscribe(channel); }

RedisDriver::Stats RedisDriver::stats() const {
  return {.writes = requests_->writes(),
          .requests = requests_->requests(),
          .scripts_resent = requests_->scripts_resent(),
          .connections = requests_->connections(),
          .interruptions = requests_->interruptions(),
          .subscription_connections = subscriptions_->connections(),
          .subscription_interruptions = subscriptions_->interruptions()};
}

}  // namespace holdfast::redis
