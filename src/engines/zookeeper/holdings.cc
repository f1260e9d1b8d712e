#include "engines/zookeeper/holdings.h"

#include <utility>
#include <vector>

#include "engines/zookeeper/broken_records.h"

namespace holdfast::zookeeper {

Holdings::Holdings(std::shared_ptr<Parts> parts)
    : SessionHoldings{parts->env, parts->settings.retry, 1}, parts_{std::move(parts)} {}

void Holdings::attend(const Owner& owner) {
  Own* const own = find(owner);
  if (own == nullptr || own->listening) return;
  auto on_change = [this, weak = weak_from_this(), owner](SessionLine::Change change) {
    if (const auto self = weak.lock()) hear(owner, change);
  };
  own->listening = own->use->line->listen(own->place.path, std::move(on_change));
  watch(owner);
}

void Holdings::watch(const Owner& owner) {
  const Own* const own = find(owner);
  if (own == nullptr || own->use->is_over()) return;
  const SharedRequest read = share(Read{.path = own->place.path, .watching = Watching::yes});
  const TimePoint by = own->use->valid_until();
  own->use->line->send(read, by, [this, weak = weak_from_this(), owner](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self) return;
    if (answer && answer->verdict == Verdict::no_node) return doubt(owner);
    // A connection that went takes no watch with it that was not set.
    if (!answer && may_pass(answer.error().code)) watch(owner);
  });
}

void Holdings::hear(const Owner& owner, SessionLine::Change change) {
  if (change && *change == SessionEvent::Change::erased) return doubt(owner);
  watch(owner);
}

Task<Result<void>> Holdings::look_into(std::vector<Owner> owners) {
  const Owner owner = owners.front();
  const Own* const own = find(owner);
  if (own == nullptr) co_return Result<void>{};
  const auto session = own->use.session();
  const auto line = session->line;
  const TimePoint by = parts_->env.now() + parts_->settings.timeout;
  // A server that was just connected may be behind.
  const auto traced = co_await trace(*session, own->place, by);
  if (!traced && may_pass(traced.error().code)) co_return Unexpected{traced.error()};
  if (traced && !traced->path.empty()) {
    watch(owner);
    co_return Result<void>{};
  }
  const SharedRequest list = share(List{.path = parts_->nodes.beside("broken")});
  const auto records = co_await line->answered(list, by);
  if (!records && may_pass(records.error().code)) co_return Unexpected{records.error()};
  const bool broken = records && has_record(records->children, owner.fingerprint());
  lose(owner, broken ? LossReason::broken : LossReason::removed);
  co_return Result<void>{};
}

}  // namespace holdfast::zookeeper
