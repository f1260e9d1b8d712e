#include "engines/redis/waiting.h"

#include <algorithm>
#include <utility>

#include "core/claim_text.h"
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

}  // namespace

void note(core::Waiter& waiter, const core::Asked& answer, TimePoint sent, TimePoint now) {
  waiter.answered = true;
  if (answer.token) return waiter.grant(*answer.token, sent);
  waiter.met = core::Met::others;
  waiter.holder = answer.holder;
  waiter.ask_at = TimePoint::max();
  if (answer.standing != core::Standing::first) return;
  // The server looks at whole milliseconds: a little later it has surely forgotten.
  const bool has_end = !(answer.holder && answer.holder->foreign) && answer.change > 0ms;
  waiter.ask_at = now + (has_end ? answer.change + 2ms : kForeignCheck);
}

Waiting::Waiting(Env& env, std::shared_ptr<RedisPort> port, Keys keys, Settings settings)
    : env_{env},
      port_{std::move(port)},
      keys_{std::move(keys)},
      settings_{std::move(settings)},
      process_{env.fresh_owner().fingerprint()},
      changed_{env} {}

void Waiting::enter(std::shared_ptr<core::Waiter> waiter) {
  const core::LockRequest& request = waiter->request;
  const auto entry = std::make_shared<Entry>(waiter, channel(request.name), env_.now());
  entries_.emplace(request.owner, entry);
  listen(entry->channel);
  if (refreshing_) {
    if (entry->refresh_due() < next_look_) changed_.ring();
  } else {
    refreshing_ = true;
    env_.spawn(keep_refreshing(shared_from_this()));
  }
}

void Waiting::leave(core::Waiter& waiter) {
  waiter.left = true;
  entries_.erase(waiter.request.owner);
  if (channels_.size() > kChannelsKept) stop_listening(channel(waiter.request.name));
}

void Waiting::listen(const std::string& channel) {
  if (!channels_.insert(channel).second) return;
  port_->subscribe(channel, [weak = weak_from_this(), channel](const Heard& heard) {
    if (const auto self = weak.lock()) self->hear(channel, heard);
  });
}

/// Unless others wait on it.
void Waiting::stop_listening(const std::string& channel) {
  const auto on_it = [&](const auto& entry) { return entry.second->channel == channel; };
  if (std::ranges::any_of(entries_, on_it)) return;
  channels_.erase(channel);
  port_->unsubscribe(channel);
}

void Waiting::hear(const std::string& channel, const Heard& heard) {
  if (heard.kind == Heard::Kind::listening) {
    // Whatever was said before went unheard.
    Entries there;
    for (const auto& [owner, entry] : entries_) {
      if (entry->channel == channel) there.push_back(entry);
    }
    refresh(there);
    return;
  }
  const auto call = read_call(heard.text);
  if (!call) return;
  const auto found = entries_.find(call->owner);
  if (found == entries_.end()) return;
  if (!call->hand_over) return refresh({found->second});
  core::Waiter& waiter = *found->second->waiter;
  waiter.grant(call->hand_over->token, call->hand_over->sent_at);
  waiter.changed.ring();
}

TimePoint Waiting::next_refresh() const {
  TimePoint next = TimePoint::max();
  for (const auto& [owner, entry] : entries_) next = std::min(next, entry->refresh_due());
  return next;
}

// Those of one TTL go together, so that they stay together.
void Waiting::refresh_all_of(Millis ttl) {
  Entries due;
  for (const auto& [owner, entry] : entries_) {
    if (entry->request().ttl == ttl) due.push_back(entry);
  }
  refresh(due);
}

void Waiting::refresh(const Entries& entries) {
  const TimePoint sent_at = env_.now();
  std::vector<std::uint16_t> slots;
  for (const auto& entry : entries) slots.push_back(keys_.slot(entry->request().name));
  for (const auto& batch : slot_batches(slots, kRefreshMax)) {
    Entries together;
    for (const std::size_t at : batch) together.push_back(entries[at]);
    refresh_together(std::move(together), sent_at);
  }
}

void Waiting::refresh_together(Entries entries, TimePoint sent_at) {
  const Entry& first = *entries.front();
  ScriptCall call{.script = &kRefreshScript,
                  .keys = {keys_.counter(first.request().name)},
                  .args = {first.channel, stamp_of(sent_at)}};
  for (const auto& entry : entries) {
    entry->refreshed_at = sent_at;
    const core::LockRequest& request = entry->request();
    call.keys.insert(call.keys.end(),
                     {keys_.lock(request.name),
                      keys_.queue(request.name),
                      keys_.waiters(request.name),
                      keys_.holders(request.name)});
    call.args.insert(call.args.end(),
                     {request.owner.to_string(),
                      std::to_string(request.ttl.count()),
                      request.note,
                      core::claim_text(request.claim),
                      std::to_string(request.lock_delay.count())});
  }
  auto on_answer =
      [self = shared_from_this(), entries = std::move(entries), sent_at](Result<Reply> reply) {
        if (reply) self->take_in(entries, *reply, sent_at);
      };
  port_->send(share(std::move(call)), sent_at + settings_.timeout, std::move(on_answer));
}

void Waiting::take_in(const Entries& entries, const Reply& reply, TimePoint sent_at) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    core::Waiter& waiter = *entries[i]->waiter;
    const bool whole = reply.items.size() == entries.size();
    const auto answer = read_asked(whole ? reply.items[i] : reply);
    if (waiter.left) {
      const bool is_stray = answer && answer->token && !waiter.token;
      if (is_stray && settings_.on_stray) settings_.on_stray(waiter.request);
      continue;
    }
    if (answer) {
      note(waiter, *answer, sent_at, env_.now());
    } else {
      // Let it ask by itself, and tell its caller what is wrong.
      waiter.ask_at = env_.now();
    }
    waiter.changed.ring();
  }
}

Task<void> Waiting::keep_refreshing(std::shared_ptr<Waiting> self) {
  while (!self->entries_.empty()) {
    const TimePoint now = self->env_.now();
    for (const auto& [owner, entry] : self->entries_) {
      if (entry->refresh_due() > now) continue;
      self->refresh_all_of(entry->request().ttl);
      break;
    }
    self->next_look_ = self->next_refresh();
    co_await self->changed_.wait_until(self->next_look_);
  }
  self->refreshing_ = false;
}

}  // namespace holdfast::redis
