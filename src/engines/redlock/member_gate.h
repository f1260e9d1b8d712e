// MemberGate: the port of one node, closed until it is known which node that is.
//
// Two addresses may lead to one node, which must not vote twice. Each node has a name of its own
// since it joined the set; the gate asks for it before the first request passes.
//
// Thread safety: as Env. Lifetime: requests under way keep the port behind it alive.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engines/redis/redis_port.h"
#include "engines/redlock/node_set.h"

namespace holdfast::redlock {

/// Reads what kLookScript answers.
Membership read_membership(const redis::Reply& reply);

/// Which node each address leads to, as far as it is known.
class Roster {
 public:
  explicit Roster(NodeSet set) : set_{std::move(set)} {}

  /// invalid_argument: another address leads there too. unavailable: it is not of the set.
  Result<void> admit(const std::string& address, const Membership& membership);

 private:
  NodeSet set_;
  /// Addresses by member.
  std::map<std::string, std::string> known_;
};

class MemberGate final : public redis::RedisPort, public std::enable_shared_from_this<MemberGate> {
 public:
  MemberGate(std::shared_ptr<redis::RedisPort> port,
             std::shared_ptr<Roster> roster,
             std::string address,
             std::string prefix);

  /// Beside what RedisPort says, what Roster::admit() says; the request never left then.
  void send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) override;
  void subscribe(std::string channel, redis::OnHeard on_heard) override;
  void unsubscribe(const std::string& channel) override;

  /// Opens it at once, for a node that has been asked already.
  Result<void> admit(const Membership& membership);

 private:
  std::shared_ptr<redis::RedisPort> port_;
  std::shared_ptr<Roster> roster_;
  std::string address_;
  redis::SharedCall look_;
  bool open_{false};
};

}  // namespace holdfast::redlock
