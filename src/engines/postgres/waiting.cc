#include "engines/postgres/waiting.h"

#include <algorithm>
#include <utility>

#include "core/claim_text.h"
#include "engines/postgres/array_text.h"
#include "engines/postgres/lease_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

// Every name takes a place in the server's table of locks, which all transactions share.
constexpr std::size_t kRefreshMax = 50;

// How often the first looks when nobody can call it.
constexpr Millis kDeafLook{250};

constexpr std::size_t kLeftKept = 256;

std::string number(Millis time) { return std::to_string(time.count()); }

}  // namespace

Waiting::Waiting(Env& env, std::shared_ptr<PostgresPort> port, Settings settings)
    : env_{env}, port_{std::move(port)}, settings_{std::move(settings)}, changed_{env} {}

void Waiting::enter(std::shared_ptr<core::Waiter> waiter) {
  const std::string owner = waiter->request.owner.to_string();
  const auto entry = std::make_shared<Entry>(Entry{std::move(waiter), env_.now()});
  entries_.emplace(owner, entry);
  if (looking_) return look_by(*entry);
  looking_ = true;
  env_.spawn(keep_looking(shared_from_this()));
}

void Waiting::leave(core::Waiter& waiter) {
  waiter.left = true;
  entries_.erase(waiter.request.owner.to_string());
  if (entries_.empty()) changed_.ring();
  left_.push_back({waiter.request, waiter.token});
  if (left_.size() > kLeftKept) left_.pop_front();
}

std::shared_ptr<Waiting::Entry> Waiting::find(const Owner& owner) const {
  const auto found = entries_.find(owner.to_string());
  return found == entries_.end() ? nullptr : found->second;
}

TimePoint Waiting::look_at(const Entry& entry) const {
  const Millis ttl = entry.request().ttl;
  const bool first = entry.standing == core::Standing::first;
  if (!settings_.session()) {
    const TimePoint due = entry.asked_at + ttl / 3;
    return first ? std::min({due, entry.change_at, entry.asked_at + kDeafLook}) : due;
  }
  // The session keeps the place, once it was given.
  if (entry.asked_at == TimePoint::min()) return entry.asked_at;
  if (entry.change_at == TimePoint::max()) return entry.change_at;
  // Who is first may have died together with the holder: the others look, too, a TTL later.
  return first ? entry.change_at : entry.change_at + ttl;
}

void Waiting::look_by(const Entry& entry) {
  if (look_at(entry) < next_look_) changed_.ring();
}

void Waiting::note(core::Waiter& waiter, const core::Asked& answer, const Request& by) {
  waiter.answered = true;
  if (answer.token) return waiter.grant(*answer.token, by.sent_at);
  waiter.met = core::Met::others;
  waiter.holder = answer.holder;
  waiter.ask_at = TimePoint::max();
  const auto entry = find(waiter.request.owner);
  if (!entry) return;
  if (answer.holder && answer.holder->token != Token{0} && by.sent_at > entry->queued_at) {
    entry->queued_at = by.sent_at;
    entry->behind = answer.holder->token;
  }
  if (by.session != settings_.session()) {
    entry->asked_at = TimePoint::min();
    entry->misplaced_at = env_.now();
  } else if (by.sent_at > entry->misplaced_at) {
    // Requests overtake each other: only what left later has surely given the place anew.
    entry->asked_at = std::max(entry->asked_at, by.sent_at);
  }
  // What it was told meanwhile is newer.
  if (entry->told_at < by.sent_at) {
    entry->standing = answer.standing;
    // The server looks at whole milliseconds: a little later it has surely forgotten.
    entry->change_at = env_.now() + answer.change + 2ms;
  }
  look_by(*entry);
}

void Waiting::hear(const Notice& notice) {
  const auto entry = find(notice.owner);
  if (entry && notice.kind == Notice::Kind::granted) return take_in_granted(entry, notice.token);
  if (entry) {
    entry->told_at = env_.now();
    entry->standing = core::Standing::first;
    entry->change_at = env_.now() + notice.change + 2ms;
    return look_by(*entry);
  }
  if (notice.kind != Notice::Kind::granted) return;
  const auto gone = std::ranges::find(left_, notice.owner, &Gone::owner);
  if (gone != left_.end()) doubt(*gone);
}

void Waiting::doubt(const Gone& gone) {
  if (!gone.token) return settings_.on_stray(gone.request);
  ask_for_lease(gone.request, [self = shared_from_this(), gone](Result<Answer> answer) {
    const auto rows = rows_of(std::move(answer));
    const auto lease = rows ? read_confirm(*rows) : Unexpected{rows.error()};
    const bool given_again = lease && *lease && (*lease)->token != *gone.token;
    if (given_again) self->settings_.on_stray(gone.request);
  });
}

void Waiting::take_in_granted(const std::shared_ptr<Entry>& entry, Token token) {
  core::Waiter& waiter = *entry->waiter;
  const bool is_fresh = env_.now() - waiter.request.ttl / 3 <= entry->queued_at;
  if (!is_fresh || token <= entry->behind) return confirm(entry);
  if (waiter.left) return;
  waiter.grant(token, entry->queued_at);
  waiter.changed.ring();
}

void Waiting::confirm(const std::shared_ptr<Entry>& entry) {
  const TimePoint sent_at = env_.now();
  auto on_answer = [self = shared_from_this(), entry, sent_at](Result<Answer> answer) {
    self->take_in_confirmed(*entry->waiter, std::move(answer), sent_at);
  };
  ask_for_lease(entry->request(), std::move(on_answer));
}

void Waiting::ask_for_lease(const core::LockRequest& request, OnAnswer on_answer) {
  port_->send(share({.statement = &kConfirmStatement,
                     .args = {settings_.prefix + request.name.text(), request.owner.to_string()}}),
              env_.now() + settings_.timeout,
              std::move(on_answer));
}

void Waiting::take_in_confirmed(core::Waiter& waiter,
                                Result<Answer> answer,
                                TimePoint sent_at) const {
  if (waiter.token || waiter.left) return;
  const auto rows = rows_of(std::move(answer));
  const auto lease = rows ? read_confirm(*rows) : Unexpected{rows.error()};
  const Millis ttl = waiter.request.ttl;
  if (lease && *lease && (*lease)->left * 2 >= ttl) {
    const Millis left = std::min((*lease)->left, ttl);
    waiter.grant((*lease)->token, core::Confirmation{sent_at, sent_at + left - ttl});
  } else {
    // It has it and is late, or has it no more: to ask again makes the most of it.
    waiter.ask_at = env_.now();
  }
  waiter.changed.ring();
}

void Waiting::attended_anew() {
  Entries all;
  for (const auto& [owner, entry] : entries_) all.push_back(entry);
  refresh(all);
  changed_.ring();
}

void Waiting::refresh(const Entries& entries) {
  for (std::size_t from = 0; from < entries.size(); from += kRefreshMax) {
    const std::size_t to = std::min(entries.size(), from + kRefreshMax);
    refresh_together({entries.begin() + static_cast<std::ptrdiff_t>(from),
                      entries.begin() + static_cast<std::ptrdiff_t>(to)});
  }
}

void Waiting::refresh_together(Entries entries) {
  const Request by = request_now();
  std::vector<Value> columns[6];
  for (const auto& entry : entries) {
    entry->asked_at = by.sent_at;
    entry->change_at = TimePoint::max();
    const core::LockRequest& request = entry->request();
    columns[0].emplace_back(settings_.prefix + request.name.text());
    columns[1].emplace_back(request.owner.to_string());
    columns[2].emplace_back(number(request.ttl));
    columns[3].emplace_back(request.note);
    columns[4].emplace_back(core::claim_text(request.claim));
    columns[5].emplace_back(number(request.lock_delay));
  }
  Call call{.statement = &kRefreshStatement, .args = {}};
  for (const auto& column : columns) call.args.push_back(array_text(column));
  call.args.push_back(session_text(by.session));
  auto on_answer =
      [self = shared_from_this(), entries = std::move(entries), by](Result<Answer> answer) {
        self->take_in(entries, rows_of(std::move(answer)), by);
      };
  port_->send(share(std::move(call)), by.sent_at + settings_.timeout, std::move(on_answer));
}

void Waiting::take_in(const Entries& entries, const Result<Rows>& rows, const Request& by) {
  const bool whole = rows && rows->size() == entries.size();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    core::Waiter& waiter = *entries[i]->waiter;
    const auto answer = whole ? read_asked((*rows)[i]) : senseless("refresh");
    if (waiter.left) {
      // Its own request to leave, or its release, may have been there before this one.
      const bool given_again = answer && answer->token && answer->token != waiter.token;
      if (!waiter.token || given_again) settings_.on_stray(waiter.request);
      continue;
    }
    if (answer) {
      note(waiter, *answer, by);
    } else {
      // Let it ask by itself, and tell its caller what is wrong.
      waiter.ask_at = env_.now();
    }
    waiter.changed.ring();
  }
}

Waiting::Entries Waiting::due(TimePoint now) const {
  Entries found;
  for (const auto& [owner, entry] : entries_) {
    if (look_at(*entry) <= now) found.push_back(entry);
  }
  if (found.empty()) return found;
  // Those whose time is near go with them, so that they stay together.
  for (const auto& [owner, entry] : entries_) {
    const Millis ttl = entry->request().ttl;
    const TimePoint at = look_at(*entry);
    if (at > now && at <= now + ttl / 8 && entry->asked_at + ttl / 5 <= now) {
      found.push_back(entry);
    }
  }
  return found;
}

Task<void> Waiting::keep_looking(std::shared_ptr<Waiting> self) {
  while (!self->entries_.empty()) {
    const Entries due = self->due(self->env_.now());
    if (!due.empty()) self->refresh(due);
    TimePoint next = TimePoint::max();
    for (const auto& [owner, entry] : self->entries_) next = std::min(next, self->look_at(*entry));
    self->next_look_ = next;
    co_await self->changed_.wait_until(next);
  }
  self->looking_ = false;
}

}  // namespace holdfast::postgres
