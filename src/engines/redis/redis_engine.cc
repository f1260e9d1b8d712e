#include "engines/redis/redis_engine.h"

#include <algorithm>
#include <utility>

#include "core/claim_text.h"
#include "engines/redis/redis_reply.h"
#include "engines/redis/redis_scripts.h"

namespace holdfast::redis {
namespace {

// A script holds up the whole server: so many leases at a time.
constexpr std::size_t kRenewMax = 100;

constexpr Millis kExplainMax{250};

std::string number(Millis time) { return std::to_string(time.count()); }

/// Whether it is the plain string that other clients have, too.
bool is_plain(const core::Claim& claim, Millis lock_delay) {
  return claim.mode == Mode::exclusive && lock_delay == Millis{0};
}

}  // namespace

/// One renewal of many leases, by several scripts.
struct RedisEngine::Renewal {
  Renewal(Env& env, std::vector<core::HeldLease> leases_in, Millis ttl_in, TimePoint answer_by_in)
      : leases{std::move(leases_in)},
        ttl{ttl_in},
        answer_by{answer_by_in},
        fates(leases.size(), core::Fate::unknown),
        complete{env} {}

  std::vector<core::HeldLease> leases;
  Millis ttl;
  TimePoint answer_by;
  std::vector<core::Fate> fates;
  std::size_t under_way{0};
  std::size_t answered{0};
  Error failure{};
  Alarm complete;
};

RedisEngine::RedisEngine(Env& env, std::shared_ptr<RedisPort> port, Settings settings)
    : QueuedEngine{env, {.timeout = settings.timeout, .in_all = settings.patience}},
      port_{std::move(port)},
      settings_{std::move(settings)},
      keys_{settings_.prefix, settings_.spread},
      watch_{settings_.spread == Spread::one_server ? std::make_shared<ServerWatch>(env, port_)
                                                    : nullptr},
      waiting_{std::make_shared<Waiting>(
          env, port_, keys_, Waiting::Settings{settings_.timeout, [this](const auto& stray) {
                                                 abandon(stray.name, stray.owner, stray.ttl);
                                               }})} {}

RedisEngine::~RedisEngine() { waiting_->orphan(); }

std::shared_ptr<RedisEngine> RedisEngine::self() {
  return std::static_pointer_cast<RedisEngine>(shared_from_this());
}

std::unique_ptr<core::QueuedEngine::Place> RedisEngine::enter(
    std::shared_ptr<core::Waiter> waiter) {
  return std::make_unique<PlaceIn<Waiting>>(waiting_, std::move(waiter));
}

Result<void> RedisEngine::check(const LockName& name) const { return keys_.check(name.text()); }

// From the first lease on, what may happen to leases is heard.
void RedisEngine::granted_to(const core::LockRequest&) {
  if (std::exchange(attending_, true)) return;
  if (watch_) watch_->glance();
  port_->subscribe(keys_.breaks(), [weak = std::weak_ptr{self()}](const Heard& heard) {
    if (const auto engine = weak.lock()) engine->hear(heard);
  });
}

void RedisEngine::hear(const Heard& heard) {
  const auto news = news_.lock();
  if (!news) return;
  if (heard.kind == Heard::Kind::listening) {
    // What was broken before was not heard, and what ended a connection may have ended leases, too.
    return news->in_doubt();
  }
  for (const Owner& owner : read_broken(heard.text)) news->lost(owner, LossReason::broken);
}

std::vector<std::string> RedisEngine::lock_keys(const LockName& name) const {
  return {keys_.lock(name),
          keys_.counter(name),
          keys_.queue(name),
          keys_.waiters(name),
          keys_.holders(name)};
}

SharedCall RedisEngine::acquire_call(const core::LockRequest& request, Waits waits) const {
  ScriptCall call{.script = &kAcquireScript,
                  .keys = lock_keys(request.name),
                  .args = {request.owner.to_string(),
                           number(request.ttl),
                           request.note,
                           stamp_of(env_.now()),
                           waits == Waits::yes ? waiting_->channel(request.name) : std::string{}}};
  if (!is_plain(request.claim, request.lock_delay)) {
    call.script = &kShareScript;
    call.args.push_back(core::claim_text(request.claim));
    call.args.push_back(number(request.lock_delay));
  }
  return share(std::move(call));
}

Task<Result<void>> RedisEngine::ask_once(std::shared_ptr<core::Waiter> waiter,
                                         Waits waits,
                                         TimePoint answer_by) {
  const TimePoint sent_at = env_.now();
  const SharedCall call = acquire_call(waiter->request, waits);
  const auto reply = co_await port_->eval(call, answer_by);
  const auto asked = reply ? read_asked(*reply) : Unexpected{reply.error()};
  if (!asked) co_return Unexpected{asked.error()};
  note(*waiter, *asked, sent_at, env_.now());
  co_return Result<void>{};
}

void RedisEngine::renew_some(const std::shared_ptr<Renewal>& renewal,
                             const Script& script,
                             std::vector<std::size_t> which) {
  ScriptCall call{.script = &script, .keys = {}, .args = {number(renewal->ttl)}};
  for (const std::size_t i : which) {
    const core::HeldLease& lease = renewal->leases[i];
    call.keys.push_back(keys_.lock(lease.name));
    if (&script == &kKeepScript) call.keys.push_back(keys_.holders(lease.name));
    call.keys.push_back(keys_.broken(lease.name));
    call.args.push_back(lock_value(lease.owner, lease.token));
  }
  auto on_answer = [self = self(), renewal, which = std::move(which)](Result<Reply> reply) {
    const auto fates = reply ? read_renew(*reply, which.size()) : Unexpected{reply.error()};
    if (fates) {
      self->note_fates(*renewal, which, *fates);
    } else {
      renewal->failure = fates.error();
    }
    if (--renewal->under_way == 0) renewal->complete.ring();
  };
  ++renewal->under_way;
  // Soon enough to try another connection while the lease stands.
  const Millis patience = std::min(settings_.timeout, std::max(renewal->ttl / 6, Millis{100}));
  const TimePoint by = std::min(renewal->answer_by, env_.now() + patience);
  port_->send(share(std::move(call)), by, std::move(on_answer));
}

void RedisEngine::note_fates(Renewal& renewal,
                             const std::vector<std::size_t>& which,
                             const std::vector<core::Fate>& fates) const {
  ++renewal.answered;
  for (std::size_t i = 0; i < which.size(); ++i) {
    core::Fate fate = fates[i];
    // It was renewed less than a TTL ago, and by the server before this one.
    const auto is_new = [&] {
      const std::string key = keys_.lock(renewal.leases[which[i]].name);
      return port_->in_charge_since(key) > env_.now() - renewal.ttl;
    };
    if (fate == core::Fate::gone && is_new()) fate = core::Fate::failed_over;
    renewal.fates[which[i]] = fate;
  }
}

Task<Result<std::vector<core::Fate>>> RedisEngine::renew(std::vector<core::HeldLease> leases,
                                                         Millis ttl,
                                                         TimePoint answer_by) {
  const auto alive = self();
  const auto renewal = std::make_shared<Renewal>(env_, std::move(leases), ttl, answer_by);
  const std::size_t count = renewal->leases.size();
  for (const bool plain : {true, false}) {
    std::vector<std::size_t> which;
    std::vector<std::uint16_t> slots;
    for (std::size_t i = 0; i < count; ++i) {
      const core::HeldLease& lease = renewal->leases[i];
      if (is_plain(lease.claim, lease.lock_delay) != plain) continue;
      which.push_back(i);
      slots.push_back(keys_.slot(lease.name));
    }
    for (auto& batch : slot_batches(slots, kRenewMax)) {
      for (std::size_t& at : batch) at = which[at];
      renew_some(renewal, plain ? kRenewScript : kKeepScript, std::move(batch));
    }
  }
  if (count > 0) co_await renewal->complete.wait_until(TimePoint::max());
  if (count > 0 && renewal->answered == 0) co_return Unexpected{renewal->failure};
  if (watch_ && std::ranges::count(renewal->fates, core::Fate::gone) > 0) {
    // Not for long: whoever holds these must hear of it.
    const TimePoint by = env_.now() + std::min({settings_.timeout, ttl / 6, kExplainMax});
    const core::Fate why = co_await watch_->explain(ttl, by);
    std::ranges::replace(renewal->fates, core::Fate::gone, why);
  } else if (watch_ && count > 0) {
    watch_->glance();
  }
  co_return renewal->fates;
}

Task<Result<core::Removal>> RedisEngine::remove(LockName name,
                                                Owner owner,
                                                std::optional<Token> token,
                                                TimePoint answer_by) {
  ScriptCall release{
      .script = &kReleaseScript, .keys = lock_keys(name), .args = {owner.to_string()}};
  if (token) release.args.push_back(std::to_string(token->value()));
  const SharedCall call = share(std::move(release));
  const auto reply = co_await port_->eval(call, answer_by);
  if (!reply) co_return Unexpected{reply.error()};
  co_return read_release(*reply);
}

}  // namespace holdfast::redis
