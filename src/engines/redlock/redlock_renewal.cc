#include <algorithm>
#include <utility>

#include "base/alarm.h"
#include "engines/redis/redis_reply.h"
#include "engines/redlock/redlock_engine.h"
#include "engines/redlock/redlock_scripts.h"

namespace holdfast::redlock {
namespace {

using core::Fate;

bool is_one(const Result<redis::Reply>& reply) {
  return reply && reply->kind == redis::Reply::Kind::integer && reply->integer == 1;
}

}  // namespace

/// One renewal of many leases, shared by the answers of the nodes.
struct RedlockEngine::Renewal {
  Renewal(Env& env, std::vector<core::HeldLease> leases_in, Millis ttl_in, std::size_t nodes_in)
      : leases{std::move(leases_in)},
        ttl{ttl_in},
        nodes{nodes_in},
        found(leases.size()),
        changed{env} {}

  struct Found {
    std::size_t renewed{0};
    std::size_t gone{0};
    bool broken{false};
    /// Nodes that do not have it, and have not been given it again.
    std::vector<std::size_t> missing{};
  };

  Fate fate_of(const Found& one) const {
    if (one.renewed >= majority(nodes)) return Fate::renewed;
    if (nodes - one.gone >= majority(nodes)) return Fate::unknown;
    return one.broken ? Fate::broken : Fate::gone;
  }

  void note(std::size_t node, const std::vector<Fate>& fates) {
    for (std::size_t i = 0; i < leases.size(); ++i) {
      Found& one = found[i];
      ++(fates[i] == Fate::renewed ? one.renewed : one.gone);
      one.broken = one.broken || fates[i] == Fate::broken;
      if (fates[i] == Fate::gone) one.missing.push_back(node);
    }
  }

  bool decided() const {
    return answered == nodes || std::ranges::none_of(found, [this](const Found& one) {
             return fate_of(one) == Fate::unknown;
           });
  }

  std::vector<core::HeldLease> leases;
  Millis ttl;
  std::size_t nodes;
  std::size_t answered{0};
  std::vector<Found> found;
  Alarm changed;
};

void RedlockEngine::extend_at(const std::shared_ptr<Renewal>& renewal,
                              const redis::SharedCall& call,
                              std::size_t node,
                              TimePoint answer_by) {
  auto on_answer = [self = shared_from_this(), renewal, node](Result<redis::Reply> reply) {
    ++renewal->answered;
    const auto fates =
        reply ? redis::read_renew(*reply, renewal->leases.size()) : Unexpected{reply.error()};
    if (fates) renewal->note(node, *fates);
    self->repair_missing(*renewal);
    if (renewal->decided()) renewal->changed.ring();
  };
  nodes_[node]->send(call, answer_by, std::move(on_answer));
}

Task<Result<std::vector<Fate>>> RedlockEngine::renew(std::vector<core::HeldLease> leases,
                                                     Millis ttl,
                                                     TimePoint answer_by) {
  const auto self = shared_from_this();
  redis::ScriptCall call{
      .script = &kExtendScript, .keys = {keys_.high()}, .args = {std::to_string(ttl.count())}};
  for (const core::HeldLease& lease : leases) {
    call.keys.push_back(keys_.lock(lease.name));
    call.keys.push_back(keys_.broken(lease.name));
    call.args.push_back(lease.owner.to_string());
  }
  const redis::SharedCall shared = redis::share(std::move(call));
  const auto renewal = std::make_shared<Renewal>(env_, std::move(leases), ttl, nodes_.size());
  const TimePoint by = request_end(answer_by);
  for (std::size_t node = 0; node < nodes_.size(); ++node) extend_at(renewal, shared, node, by);
  while (!renewal->decided()) co_await renewal->changed.wait_until(TimePoint::max());
  std::vector<Fate> fates;
  for (const Renewal::Found& one : renewal->found) fates.push_back(renewal->fate_of(one));
  co_return fates;
}

// Only while it is extended on a majority: otherwise somebody else may have had the lock meanwhile,
// and giving it to this owner again would bring back what is gone.
void RedlockEngine::repair_missing(Renewal& renewal) {
  for (std::size_t i = 0; i < renewal.leases.size(); ++i) {
    Renewal::Found& one = renewal.found[i];
    if (one.missing.empty() || one.broken || one.renewed < majority(renewal.nodes)) continue;
    for (const std::size_t node : std::exchange(one.missing, {})) {
      repair(renewal.leases[i], renewal.ttl, node);
    }
  }
}

void RedlockEngine::repair(const core::HeldLease& lease, Millis ttl, std::size_t node) {
  const std::string owner = lease.owner.to_string();
  const redis::SharedCall call =
      redis::share({.script = &kRepairScript,
                    .keys = keys_of(lease.name),
                    .args = {owner,
                             std::to_string(ttl.count()),
                             std::to_string(settings_.counter_ttl.count()),
                             std::to_string(lease.token.value())}});
  if (!repairing_.emplace(lease.owner, node).second) return;
  auto on_answer = [self = shared_from_this(), lease, ttl, node](Result<redis::Reply> reply) {
    if (self->repairing_.erase({lease.owner, node}) > 0) return;
    // Given up meanwhile: what came too late goes again.
    if (reply && !is_one(reply)) return;
    self->remove_at({.call = self->remove(lease.name, lease.owner, Told::nobody),
                     .node = node,
                     .until = self->env_.now() + ttl});
  };
  nodes_[node]->send(call, env_.now() + settings_.timeout, std::move(on_answer));
}

void RedlockEngine::forget_repairs(const Owner& owner) {
  std::erase_if(repairing_, [&](const auto& one) { return one.first == owner; });
}

}  // namespace holdfast::redlock
