// SubscriptionLine: all subscriptions of a process at one server, over one connection.
//
// The connection is made when something is first subscribed. While there are subscriptions, a PING
// tells a silent server from one that has gone.
//
// Thread safety: none; it belongs to the Env's thread.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "engines/redis/driver/line.h"
#include "engines/redis/driver/redis_driver.h"

namespace holdfast::redis {

class SubscriptionLine final : public Line {
 public:
  SubscriptionLine(LineContext context, Duration heartbeat);

  /// As RedisPort. A channel that is subscribed already gets the new callback.
  void subscribe(Subscription subscription);
  void unsubscribe(const std::string& channel);
  bool subscribes(const std::string& channel) const { return subscriptions_.contains(channel); }

  void close() override;

 private:
  enum class Verb : std::uint8_t { subscribe, unsubscribe, ping };

  struct Listener {
    /// Shared, because it may unsubscribe itself while it runs.
    std::shared_ptr<const Subscription> wanted;
    /// Tells the confirmation of this subscription from that of an earlier one.
    std::uint64_t number{0};
    bool confirmed{false};
  };

  /// A command that has not been confirmed. The server does so in order.
  struct Asked {
    Verb verb;
    std::string channel{};
    Subscription::Reach reach{Subscription::Reach::everywhere};
    std::uint64_t number{0};
  };

  void opened() override;
  void interrupted(const Failure& failure) override;
  bool needs_connection() const override { return !subscriptions_.empty(); }
  void on_reply(Reply reply) override;
  void on_replies_told() override { flush(); }
  void on_output_left() override { flush(); }

  void ask(Asked asked);
  void flush_soon();
  void flush();
  void confirmed(const Reply& reply);
  bool is_unasked_farewell(const Reply& reply) const;
  /// The server does not serve the channel.
  void fall_silent(const std::string& channel);
  void told(const std::string& channel, std::string text);
  void beat();

  Duration heartbeat_;
  std::unordered_map<std::string, Listener> subscriptions_;
  std::uint64_t next_number_{1};
  /// Commands to the open connection, in order: first those that were written, then those that were
  /// not.
  std::deque<Asked> asked_;
  std::size_t written_{0};
  bool flush_posted_{false};
  DueTimer beat_timer_;
  TimePoint next_beat_{};
  bool heard_since_beat_{true};
};

}  // namespace holdfast::redis
