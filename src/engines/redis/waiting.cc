#include "engines/redis/waiting.h"

#include <algorithm>
#include <utility>

#include "engines/redis/redis_scripts.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

// A script holds up the whole server: so many places at a time.
constexpr std::size_t kRefreshMax = 500;

// Who took the lock by other means says nothing when it lets go.
constexpr Millis kForeignCheck{250};

// Channels of a cluster that are kept for the next who waits there.
constexpr std::size_t kChannelsKept = 64;

TimePoint refresh_due(const Waiter& waiter) { return waiter.refreshed_at + waiter.request.ttl / 3; }

}  // namespace

void Waiter::grant(Token granted, TimePoint sent) {
  if (token) return;
  token = granted;
  sent_at = sent;
}

void Waiter::note(const Asked& answer, TimePoint sent, TimePoint now) {
  answered = true;
  if (answer.token) return grant(*answer.token, sent);
  holder = answer.holder;
  ask_at = TimePoint::max();
  if (answer.standing != Standing::first) return;
  // The server looks at whole milliseconds: a little later it has surely forgotten.
  const bool has_end = !(holder && holder->foreign) && answer.change > 0ms;
  ask_at = now + (has_end ? answer.change + 2ms : kForeignCheck);
}

Waiting::Waiting(Env& env, std::shared_ptr<RedisPort> port, Keys keys, Settings settings)
    : env_{env},
      port_{std::move(port)},
      keys_{std::move(keys)},
      settings_{std::move(settings)},
      process_{env.fresh_owner().fingerprint()},
      changed_{env} {}

std::unique_ptr<Waiting::Place> Waiting::enter(std::shared_ptr<Waiter> waiter) {
  waiters_.emplace(waiter->request.owner.to_string(), waiter);
  waiter->channel = channel(waiter->request.name);
  listen(waiter->channel);
  if (refreshing_) {
    if (refresh_due(*waiter) < next_look_) changed_.ring();
  } else {
    refreshing_ = true;
    env_.spawn(keep_refreshing(shared_from_this()));
  }
  return std::make_unique<Place>(shared_from_this(), std::move(waiter));
}

void Waiting::listen(const std::string& channel) {
  if (!channels_.insert(channel).second) return;
  port_->subscribe(channel, [weak = weak_from_this(), channel](const Heard& heard) {
    if (const auto self = weak.lock()) self->hear(channel, heard);
  });
}

void Waiting::stop_listening(const std::string& channel) {
  if (channels_.size() <= kChannelsKept) return;
  const auto on_it = [&](const auto& entry) { return entry.second->channel == channel; };
  if (std::ranges::any_of(waiters_, on_it)) return;
  channels_.erase(channel);
  port_->unsubscribe(channel);
}

void Waiting::hear(const std::string& channel, const Heard& heard) {
  if (heard.kind == Heard::Kind::listening) {
    // Whatever was said before went unheard.
    Waiters there;
    for (const auto& [owner, waiter] : waiters_) {
      if (waiter->channel == channel) there.push_back(waiter);
    }
    refresh(there);
    return;
  }
  const auto call = read_call(heard.text);
  if (!call) return;
  const auto found = waiters_.find(call->owner);
  if (found == waiters_.end()) return;
  if (!call->hand_over) return refresh({found->second});
  found->second->grant(call->hand_over->token, call->hand_over->sent_at);
  found->second->changed.ring();
}

TimePoint Waiting::next_refresh() const {
  TimePoint next = TimePoint::max();
  for (const auto& [owner, waiter] : waiters_) next = std::min(next, refresh_due(*waiter));
  return next;
}

// Those of one TTL go together, so that they stay together.
void Waiting::refresh_all_of(Millis ttl) {
  Waiters due;
  for (const auto& [owner, waiter] : waiters_) {
    if (waiter->request.ttl == ttl) due.push_back(waiter);
  }
  refresh(due);
}

void Waiting::refresh(const Waiters& waiters) {
  const TimePoint sent_at = env_.now();
  std::vector<std::uint16_t> slots;
  for (const auto& waiter : waiters) slots.push_back(keys_.slot(waiter->request.name));
  for (const auto& batch : slot_batches(slots, kRefreshMax)) {
    Waiters together;
    for (const std::size_t at : batch) together.push_back(waiters[at]);
    refresh_together(std::move(together), sent_at);
  }
}

void Waiting::refresh_together(Waiters waiters, TimePoint sent_at) {
  const Waiter& first = *waiters.front();
  ScriptCall call{.script = &kRefreshScript,
                  .keys = {keys_.counter(first.request.name)},
                  .args = {first.channel, stamp_of(sent_at)}};
  for (const auto& waiter : waiters) {
    waiter->refreshed_at = sent_at;
    const core::LockRequest& request = waiter->request;
    call.keys.insert(call.keys.end(),
                     {keys_.lock(request.name),
                      keys_.queue(request.name),
                      keys_.waiters(request.name),
                      keys_.holders(request.name)});
    call.args.insert(call.args.end(),
                     {request.owner.to_string(),
                      std::to_string(request.ttl.count()),
                      request.note,
                      claim_text(request.claim),
                      std::to_string(request.lock_delay.count())});
  }
  auto on_answer =
      [self = shared_from_this(), waiters = std::move(waiters), sent_at](Result<Reply> reply) {
        if (reply) self->take_in(waiters, *reply, sent_at);
      };
  port_->send(share(std::move(call)), sent_at + settings_.timeout, std::move(on_answer));
}

void Waiting::take_in(const Waiters& waiters, const Reply& reply, TimePoint sent_at) {
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    Waiter& waiter = *waiters[i];
    const bool whole = reply.items.size() == waiters.size();
    const auto answer = read_asked(whole ? reply.items[i] : reply);
    if (waiter.left) {
      if (answer && answer->token && !waiter.token) settings_.on_stray(waiter.request);
      continue;
    }
    if (answer) {
      waiter.note(*answer, sent_at, env_.now());
    } else {
      // Let it ask by itself, and tell its caller what is wrong.
      waiter.ask_at = env_.now();
    }
    waiter.changed.ring();
  }
}

Task<void> Waiting::keep_refreshing(std::shared_ptr<Waiting> self) {
  while (!self->waiters_.empty()) {
    const TimePoint now = self->env_.now();
    for (const auto& [owner, waiter] : self->waiters_) {
      if (refresh_due(*waiter) > now) continue;
      self->refresh_all_of(waiter->request.ttl);
      break;
    }
    self->next_look_ = self->next_refresh();
    co_await self->changed_.wait_until(self->next_look_);
  }
  self->refreshing_ = false;
}

}  // namespace holdfast::redis
