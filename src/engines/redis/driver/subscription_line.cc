#include "engines/redis/driver/subscription_line.h"

#include <utility>

#include "engines/redis/driver/redirection.h"
#include "engines/redis/driver/resp_writer.h"

namespace holdfast::redis {
namespace {

bool begins_with(const Reply& reply, std::string_view word) {
  return reply.kind == Reply::Kind::array && reply.items.size() == 3 && reply.items[0].text == word;
}

bool is_message(const Reply& reply) {
  return begins_with(reply, "message") || begins_with(reply, "smessage");
}

std::string_view word_of(Subscription::Reach reach, std::string_view plain, std::string_view slot) {
  return reach == Subscription::Reach::everywhere ? plain : slot;
}

}  // namespace

SubscriptionLine::SubscriptionLine(LineContext context, Duration heartbeat)
    : Line{std::move(context)}, heartbeat_{heartbeat}, beat_timer_{env(), [this] { beat(); }} {}

void SubscriptionLine::subscribe(Subscription subscription) {
  const std::uint64_t number = next_number_++;
  Asked asked{Verb::subscribe, subscription.channel, subscription.reach, number};
  subscriptions_[asked.channel] = {
      .wanted = std::make_shared<const Subscription>(std::move(subscription)), .number = number};
  connect();
  beat();
  ask(std::move(asked));
}

void SubscriptionLine::unsubscribe(const std::string& channel) {
  const auto found = subscriptions_.find(channel);
  if (found == subscriptions_.end()) return;
  const Subscription::Reach reach = found->second.wanted->reach;
  subscriptions_.erase(found);
  ask({Verb::unsubscribe, channel, reach});
}

// Without a connection there is nothing to ask for: opened() asks for everything.
void SubscriptionLine::ask(Asked asked) {
  if (!is_ready()) return;
  asked_.push_back(std::move(asked));
  flush_soon();
}

void SubscriptionLine::flush_soon() {
  if (flush_posted_) return;
  flush_posted_ = true;
  const auto flush_later = [self = shared_from_this(), this] {
    flush_posted_ = false;
    flush();
  };
  env().run_after_tasks(flush_later);
}

void SubscriptionLine::flush() {
  Connection* const connection = taking_output();
  if (connection == nullptr || written_ == asked_.size()) return;
  for (; written_ < asked_.size(); ++written_) {
    const Asked& asked = asked_[written_];
    switch (asked.verb) {
      case Verb::subscribe:
        append_command(connection->output(),
                       {word_of(asked.reach, "SUBSCRIBE", "SSUBSCRIBE"), asked.channel});
        break;
      case Verb::unsubscribe:
        append_command(connection->output(),
                       {word_of(asked.reach, "UNSUBSCRIBE", "SUNSUBSCRIBE"), asked.channel});
        break;
      case Verb::ping:
        append_command(connection->output(), {"PING"});
        break;
    }
  }
  connection->send_output();
}

void SubscriptionLine::opened() {
  heard_since_beat_ = true;
  for (const auto& [channel, subscription] : subscriptions_) {
    asked_.push_back({Verb::subscribe, channel, subscription.wanted->reach, subscription.number});
  }
  // With the first words goes a PING, so that silence is noticed within one interval.
  next_beat_ = env().now();
  beat();
  flush();
}

void SubscriptionLine::interrupted(const Failure&) {
  asked_.clear();
  written_ = 0;
  std::vector<std::shared_ptr<const Subscription>> silent;
  for (auto& [channel, subscription] : subscriptions_) {
    subscription.confirmed = false;
    if (subscription.wanted->on_silence) silent.push_back(subscription.wanted);
  }
  for (const auto& subscription : silent) subscription->on_silence();
}

void SubscriptionLine::on_reply(Reply reply) {
  if (abandoned()) return;
  heard_since_beat_ = true;
  if (is_message(reply)) {
    told(reply.items[1].text, std::move(reply.items[2].text));
  } else if (is_unasked_farewell(reply)) {
    fall_silent(reply.items[1].text);
  } else if (written_ == 0) {
    give_up("sent a reply nobody asked for");
  } else {
    confirmed(reply);
  }
}

// A server tells so when a slot has left it.
bool SubscriptionLine::is_unasked_farewell(const Reply& reply) const {
  if (!begins_with(reply, "sunsubscribe")) return false;
  const std::string& channel = reply.items[1].text;
  const bool asked =
      written_ > 0 && asked_.front().verb == Verb::unsubscribe && asked_.front().channel == channel;
  return !asked;
}

void SubscriptionLine::fall_silent(const std::string& channel) {
  const auto found = subscriptions_.find(channel);
  if (found == subscriptions_.end()) return;
  const auto wanted = found->second.wanted;
  subscriptions_.erase(found);
  if (wanted->on_silence) wanted->on_silence();
}

void SubscriptionLine::confirmed(const Reply& reply) {
  const Asked asked = std::move(asked_.front());
  asked_.pop_front();
  --written_;
  if (read_redirection(reply).kind != Redirection::Kind::none) {
    const auto refused = subscriptions_.find(asked.channel);
    if (refused != subscriptions_.end() && refused->second.number == asked.number) {
      fall_silent(asked.channel);
    }
    return;
  }
  // A refused subscription stays silent: whoever listens also looks from time to time.
  if (reply.kind == Reply::Kind::error) return;
  prove_alive();
  if (asked.verb != Verb::subscribe) return;
  const auto found = subscriptions_.find(asked.channel);
  if (found == subscriptions_.end() || found->second.number != asked.number) return;
  found->second.confirmed = true;
  const auto wanted = found->second.wanted;
  wanted->on_heard({.kind = Heard::Kind::listening});
}

void SubscriptionLine::told(const std::string& channel, std::string text) {
  const auto found = subscriptions_.find(channel);
  if (found == subscriptions_.end() || !found->second.confirmed) return;
  const auto wanted = found->second.wanted;
  wanted->on_heard({.kind = Heard::Kind::message, .text = std::move(text)});
}

void SubscriptionLine::beat() {
  if (!is_ready() || subscriptions_.empty()) return;
  const TimePoint now = env().now();
  if (now >= next_beat_) {
    if (!heard_since_beat_) return give_up("no answer in time");
    heard_since_beat_ = false;
    next_beat_ = now + heartbeat_;
    ask({.verb = Verb::ping});
  }
  beat_timer_.set(next_beat_);
}

void SubscriptionLine::close() {
  Line::close();
  asked_.clear();
  written_ = 0;
  const auto dropped = std::exchange(subscriptions_, {});
}

}  // namespace holdfast::redis
