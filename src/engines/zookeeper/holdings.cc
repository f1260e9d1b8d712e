#include "engines/zookeeper/holdings.h"

#include <utility>
#include <vector>

#include "engines/zookeeper/broken_records.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

// Most locks are held for less, and a watch would cost them more than it tells.
constexpr Duration kMoment = 1s;

}  // namespace

void Holdings::add(const Owner& owner, Own own) {
  held_.insert_or_assign(owner, std::move(own));
  fresh_.push_back({.owner = owner, .since = parts_->env.now()});
  if (std::exchange(attending_, true)) return;
  parts_->env.spawn(attend_in_time(weak_from_this(), parts_->env));
}

Task<void> Holdings::attend_in_time(std::weak_ptr<Holdings> weak, Env& env) {
  for (;;) {
    co_await env.sleep_for(kMoment);
    const auto self = weak.lock();
    if (!self || !self->attend_lasting()) co_return;
  }
}

bool Holdings::attend_lasting() {
  const TimePoint now = parts_->env.now();
  while (!fresh_.empty() && fresh_.front().since + kMoment <= now) {
    const Owner owner = fresh_.front().owner;
    fresh_.pop_front();
    attend(owner);
  }
  attending_ = !fresh_.empty();
  return attending_;
}

Own* Holdings::find(const Owner& owner) {
  const auto found = held_.find(owner);
  return found == held_.end() ? nullptr : &found->second;
}

std::optional<Own> Holdings::take(const Owner& owner) {
  const auto found = held_.find(owner);
  if (found == held_.end()) return std::nullopt;
  std::optional<Own> own{std::move(found->second)};
  held_.erase(found);
  return own;
}

void Holdings::attend(const Owner& owner) {
  Own* const own = find(owner);
  if (own == nullptr || own->listening) return;
  auto hear = [weak = weak_from_this(), owner](SessionLine::Change change) {
    if (const auto self = weak.lock()) self->hear(owner, change);
  };
  own->listening = own->use->line->listen(own->place.path, std::move(hear));
  watch(owner);
}

void Holdings::watch(const Owner& owner) {
  const Own* const own = find(owner);
  if (own == nullptr || own->use->is_over()) return;
  const SharedRequest read = share(Read{.path = own->place.path, .watching = Watching::yes});
  const TimePoint by = own->use->valid_until();
  own->use->line->send(read, by, [weak = weak_from_this(), owner](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self) return;
    if (answer && answer->verdict == Verdict::no_node) return self->doubt(owner);
    // A connection that went takes no watch with it that was not set.
    if (!answer && may_pass(answer.error().code)) self->watch(owner);
  });
}

void Holdings::hear(const Owner& owner, SessionLine::Change change) {
  if (change && *change == SessionEvent::Change::erased) return doubt(owner);
  watch(owner);
}

void Holdings::hear_of_end(const std::shared_ptr<Session>& session) {
  std::vector<Owner> owners;
  for (const auto& [owner, own] : held_) {
    if (own.use.session() == session) owners.push_back(owner);
  }
  for (const Owner& owner : owners) lose(owner, session->end());
}

void Holdings::lose(const Owner& owner, LossReason reason) {
  // First of all: who is told may ask what is held.
  if (!take(owner)) return;
  if (const auto news = news_.lock()) news->lost(owner, reason);
}

void Holdings::doubt(const Owner& owner) {
  if (find(owner) == nullptr) return;
  doubtful_.insert(owner);
  if (!std::exchange(looking_, true)) parts_->env.spawn(look_into(shared_from_this()));
}

Task<void> Holdings::look_into(std::shared_ptr<Holdings> self) {
  for (std::uint32_t attempt = 0; !self->doubtful_.empty();) {
    const Owner owner = *self->doubtful_.begin();
    const auto looked = co_await self->look_into_one(owner);
    if (looked || self->find(owner) == nullptr) {
      self->doubtful_.erase(owner);
      attempt = 0;
      continue;
    }
    const BackoffPolicy& retry = self->parts_->settings.retry;
    co_await self->parts_->env.sleep_for(backoff_delay(retry, attempt++, self->parts_->env.draw()));
  }
  self->looking_ = false;
}

/// Its node seems to be gone: is it, and why?
Task<Result<void>> Holdings::look_into_one(Owner owner) {
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
