// PubSub: who listens to which channel of a model server. Nothing is kept for those who come later.
//
// Thread safety: none.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sim {

class PubSub {
 public:
  /// Gets each message in the middle of the command that sent it, and so must not call the server.
  using Receiver = std::function<void(std::string_view channel, std::string_view message)>;
  using Id = std::uint64_t;

  Id subscribe(std::string channel, Receiver receiver) {
    subscribers_.push_back({++last_id_, std::move(channel), std::move(receiver)});
    return last_id_;
  }

  /// Without effect when the subscription is over already.
  void unsubscribe(Id id) {
    std::erase_if(subscribers_, [id](const Subscriber& one) { return one.id == id; });
  }

  bool has(Id id) const {
    return std::ranges::any_of(subscribers_, [id](const Subscriber& one) { return one.id == id; });
  }

  /// As when every connection breaks.
  void clear() { subscribers_.clear(); }

  /// How many it reached.
  std::int64_t publish(std::string_view channel, std::string_view message) const {
    std::int64_t reached = 0;
    for (const Subscriber& one : subscribers_) {
      if (one.channel != channel) continue;
      one.receiver(channel, message);
      ++reached;
    }
    return reached;
  }

 private:
  struct Subscriber {
    Id id;
    std::string channel;
    Receiver receiver;
  };

  Id last_id_{0};
  std::vector<Subscriber> subscribers_;
};

}  // namespace holdfast::sim
