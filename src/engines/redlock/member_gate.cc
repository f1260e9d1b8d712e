#include "engines/redlock/member_gate.h"

#include <utility>

#include "engines/redlock/founding_scripts.h"
#include "engines/redlock/verdict.h"

namespace holdfast::redlock {

Membership read_membership(const redis::Reply& reply) {
  const std::size_t space = reply.text.rfind(' ');
  if (space == std::string::npos) return {};
  return {.set = NodeSet::parse(std::string_view{reply.text}.substr(0, space)),
          .member = reply.text.substr(space + 1)};
}

Result<void> Roster::admit(const std::string& address, const Membership& membership) {
  if (!membership.set || *membership.set != set_) {
    return Unexpected{Error{Errc::unavailable,
                            membership.set ? "this node belongs to another set"
                                           : "this node belongs to no set: it is new, or has lost "
                                             "its data",
                            "let it join with 'holdfast redlock rejoin'"}};
  }
  const auto [known, is_new] = known_.emplace(membership.member, address);
  if (is_new || known->second == address) return {};
  return Unexpected{Error{Errc::invalid_argument,
                          known->second + " and " + address + " are one and the same node",
                          "name every node once"}};
}

MemberGate::MemberGate(std::shared_ptr<redis::RedisPort> port,
                       std::shared_ptr<Roster> roster,
                       std::string address,
                       std::string prefix)
    : port_{std::move(port)},
      roster_{std::move(roster)},
      address_{std::move(address)},
      look_{
          redis::share({.script = &kLookScript, .keys = {Keys::membership(prefix)}, .args = {}})} {}

Result<void> MemberGate::admit(const Membership& membership) {
  auto admitted = roster_->admit(address_, membership);
  open_ = open_ || admitted;
  return admitted;
}

void MemberGate::send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) {
  if (open_) return port_->send(std::move(call), answer_by, std::move(on_answer));
  auto on_look = [self = shared_from_this(),
                  call = std::move(call),
                  answer_by,
                  on_answer = std::move(on_answer)](Result<redis::Reply> reply) mutable {
    if (reply && reply->kind == redis::Reply::Kind::error) reply = Unexpected{node_error(*reply)};
    if (!reply) {
      // The question had no answer; the request itself never left.
      Error error = std::move(reply).error();
      if (error.code == Errc::unknown_outcome) error.code = Errc::unavailable;
      return on_answer(Unexpected{std::move(error)});
    }
    if (auto admitted = self->admit(read_membership(*reply)); !admitted) {
      return on_answer(Unexpected{std::move(admitted).error()});
    }
    self->port_->send(std::move(call), answer_by, std::move(on_answer));
  };
  port_->send(look_, answer_by, std::move(on_look));
}

void MemberGate::subscribe(std::string channel, redis::OnHeard on_heard) {
  port_->subscribe(std::move(channel), std::move(on_heard));
}

void MemberGate::unsubscribe(const std::string& channel) { port_->unsubscribe(channel); }

}  // namespace holdfast::redlock
