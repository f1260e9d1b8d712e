#include <utility>

#include "base/alarm.h"
#include "engines/redis/redis_reply.h"
#include "engines/redlock/redlock_engine.h"
#include "engines/redlock/redlock_scripts.h"

namespace holdfast::redlock {

/// One release, shared by the answers of the nodes.
struct RedlockEngine::Release {
  Release(Env& env, std::size_t nodes_in) : nodes{nodes_in}, changed{env} {}

  bool decided() const {
    return answered == nodes || removed >= majority(nodes) || absent >= majority(nodes);
  }

  redis::SharedCall call;
  TimePoint valid_until;
  std::size_t nodes;
  std::size_t answered{0};
  std::size_t removed{0};
  std::size_t absent{0};
  Alarm changed;
};

redis::SharedCall RedlockEngine::remove(const LockName& name, const Owner& owner, Told told) const {
  redis::ScriptCall call{
      .script = &kRemoveScript, .keys = {keys_.lock(name)}, .args = {owner.to_string()}};
  if (told == Told::waiters) call.args.push_back(keys_.channel(name));
  return redis::share(std::move(call));
}

void RedlockEngine::release_at(const std::shared_ptr<Release>& release,
                               std::size_t node,
                               TimePoint answer_by) {
  auto on_answer = [self = shared_from_this(), release, node](Result<redis::Reply> reply) {
    ++release->answered;
    const auto removal = reply ? redis::read_release(*reply) : Unexpected{reply.error()};
    if (removal) {
      ++(*removal == core::Removal::removed ? release->removed : release->absent);
    } else {
      self->remove_at({.call = release->call, .node = node, .until = release->valid_until});
    }
    if (release->decided()) release->changed.ring();
  };
  nodes_[node]->send(release->call, answer_by, std::move(on_answer));
}

Task<ReleaseOutcome> RedlockEngine::release(core::HeldLease lease,
                                            TimePoint valid_until,
                                            TimePoint answer_by) {
  const auto self = shared_from_this();
  forget_repairs(lease.owner);
  const auto release = std::make_shared<Release>(env_, nodes_.size());
  release->call = remove(lease.name, lease.owner, Told::waiters);
  release->valid_until = valid_until;
  const TimePoint by = request_end(answer_by);
  for (std::size_t node = 0; node < nodes_.size(); ++node) release_at(release, node, by);
  while (!release->decided()) co_await release->changed.wait_until(TimePoint::max());
  if (release->removed >= majority(nodes_.size())) co_return ReleaseOutcome::released;
  if (release->absent >= majority(nodes_.size())) co_return ReleaseOutcome::already_lost;
  co_return ReleaseOutcome::unknown;
}

void RedlockEngine::abandon(LockName name, Owner owner, Millis ttl) {
  forget_repairs(owner);
  const redis::SharedCall call = remove(name, owner, Told::waiters);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    remove_at({.call = call, .node = node, .until = env_.now() + ttl});
  }
}

void RedlockEngine::remove_at(const Removing& removing) {
  if (env_.now() >= removing.until) return;
  auto on_answer = [self = shared_from_this(), removing](Result<redis::Reply> reply) {
    if (reply && redis::read_release(*reply)) return;
    self->env_.spawn(remove_later(self, removing));
  };
  nodes_[removing.node]->send(removing.call, request_end(removing.until), std::move(on_answer));
}

Task<void> RedlockEngine::remove_later(std::shared_ptr<RedlockEngine> self, Removing removing) {
  const Duration delay = backoff_delay(self->settings_.retry, removing.attempt, self->env_.draw());
  co_await self->env_.sleep_for(delay);
  ++removing.attempt;
  self->remove_at(removing);
}

}  // namespace holdfast::redlock
