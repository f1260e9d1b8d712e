#include "sim/postgres/lease_functions.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kBrokenKept = 24h;

auto by(std::string_view owner) {
  return [owner](const auto& row) { return row.ask.owner == owner; };
}

bool is_permit(std::string_view claim) { return claim.starts_with('p'); }

bool differ(std::string_view one, std::string_view other) { return is_permit(one) && one != other; }

}  // namespace

std::int64_t whole_ms(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).count();
}

bool LeaseFunctions::stands(const HolderRow& holder) const {
  return holder.until > now_ || server_.slip() == Slip::expiry_unseen;
}

WallTime LeaseFunctions::left_of(const HolderRow& holder) const {
  return server_.slip() == Slip::whole_ttl_left ? holder.ask.ttl : holder.until - now_;
}

bool LeaseFunctions::is_there(const WaiterRow& waiter) const {
  if (server_.slip() == Slip::absence_unseen) return true;
  return waiter.ask.session ? server_.attended(*waiter.ask.session) : waiter.until > now_;
}

HolderRow* LeaseFunctions::find(LockRows& lock, std::string_view owner) const {
  const auto found = std::ranges::find_if(lock.holders, by(owner));
  return found != lock.holders.end() && stands(*found) ? &*found : nullptr;
}

void LeaseFunctions::sweep(LockRows& lock) const {
  std::erase_if(lock.holders, [this](const HolderRow& holder) {
    return !stands(holder) && holder.until + holder.ask.delay <= now_;
  });
}

LeaseFunctions::Survey LeaseFunctions::survey(const LockRows& lock) const {
  Survey there{.count = lock.holders.size()};
  if (server_.slip() == Slip::holders_unseen) there.count = 0;
  if (lock.holders.empty()) return there;
  const auto claim = [](const HolderRow& holder) -> const std::string& { return holder.ask.claim; };
  there.claim = claim(*std::ranges::min_element(lock.holders, {}, claim));
  const auto [soonest, latest] = std::ranges::minmax(lock.holders, {}, &HolderRow::until);
  there.changes_at = there.claim == "s" ? latest.until : soonest.until;
  for (const HolderRow& holder : lock.holders) {
    if (stands(holder) || holder.ask.delay == 0us) continue;
    const WallTime end = holder.until + holder.ask.delay;
    there.closed_until = std::max(end, there.closed_until.value_or(end));
  }
  return there;
}

bool LeaseFunctions::admits(const Survey& there, std::string_view claim) const {
  if (there.closed_until) return false;
  if (there.count == 0) return true;
  if (claim != there.claim) return false;
  return claim == "s" ||
         (is_permit(claim) && there.count < parse_decimal<std::size_t>(claim.substr(1)));
}

bool LeaseFunctions::clashes(const LockRows& lock, const LeaseAsk& ask) const {
  const auto holds = [&](const HolderRow& row) {
    return differ(row.ask.claim, ask.claim) && stands(row);
  };
  if (std::ranges::any_of(lock.holders, holds)) return true;
  if (std::ranges::any_of(lock.waiters, by(ask.owner))) return false;
  return std::ranges::any_of(lock.waiters, [&](const WaiterRow& row) {
    return differ(row.ask.claim, ask.claim) && is_there(row);
  });
}

std::int64_t LeaseFunctions::change_of(const Survey& there) const {
  const auto at = there.closed_until ? there.closed_until : there.changes_at;
  return std::max<std::int64_t>(at ? whole_ms(*at - now_) : 0, 0) + 1;
}

std::uint64_t LeaseFunctions::enter(LockRows& lock, const LeaseAsk& ask) {
  if (server_.slip() == Slip::holders_unseen) lock.holders.clear();
  const std::uint64_t token = server_.mint();
  lock.holders.push_back({.ask = ask, .token = token, .until = now_ + ask.ttl});
  return token;
}

void LeaseFunctions::stand(LockRows& lock, const LeaseAsk& ask) const {
  const auto before = std::ranges::find_if(lock.waiters, by(ask.owner));
  if (before == lock.waiters.end()) {
    lock.waiters.push_back({.ask = ask, .until = now_ + ask.ttl});
  } else {
    before->until = now_ + ask.ttl;
    before->ask.session = ask.session;
  }
}

void LeaseFunctions::tell(const LeaseAsk& whom, const std::string& words) {
  if (whom.session) server_.notify(*whom.session, words);
}

LeaseFunctions::Handed LeaseFunctions::hand_over(LockRows& lock,
                                                 std::string_view asking,
                                                 News news) {
  sweep(lock);
  Handed handed{.there = survey(lock)};
  Survey& there = handed.there;
  while (!lock.waiters.empty() && !handed.head) {
    const WaiterRow next = lock.waiters.front();
    const bool asks = next.ask.owner == asking;
    if (asks || is_there(next)) {
      if (!admits(there, next.ask.claim)) {
        handed.head = next.ask.owner;
        continue;
      }
      const std::uint64_t token = enter(lock, next.ask);
      const WallTime ends = now_ + next.ask.ttl;
      ++there.count;
      there.claim = next.ask.claim;
      const WallTime before = there.changes_at.value_or(ends);
      there.changes_at = there.claim == "s" ? std::max(before, ends) : std::min(before, ends);
      if (asks) handed.mine = token;
      if (!asks) tell(next.ask, "granted " + next.ask.owner + ' ' + std::to_string(token));
    }
    lock.waiters.erase(lock.waiters.begin());
    news = News::yes;
  }
  if (news == News::yes && handed.head && *handed.head != asking) {
    tell(lock.waiters.front().ask,
         "first " + *handed.head + " " + std::to_string(change_of(there)));
  }
  return handed;
}

void LeaseFunctions::forget(const std::string& name) {
  const auto lock = tables_.locks.find(name);
  if (lock == tables_.locks.end()) return;
  if (lock->second.holders.empty() && lock->second.waiters.empty()) tables_.locks.erase(lock);
}

LeaseReply LeaseFunctions::refuse(const LockRows& lock,
                                  const LeaseAsk& ask,
                                  const Handed& handed) const {
  LeaseReply reply{.change = change_of(handed.there),
                   .first = !handed.head || *handed.head == ask.owner};
  const auto stand = [this](const HolderRow& holder) { return stands(holder); };
  if (std::ranges::count_if(lock.holders, stand) == 1) {
    const HolderRow& holder = *std::ranges::find_if(lock.holders, stand);
    reply.holder = std::to_string(holder.token) + " " + holder.ask.owner + " " + holder.ask.note;
  }
  return reply;
}

LeaseReply LeaseFunctions::acquire(const std::string& name, const LeaseAsk& ask, Wait wait) {
  using Kind = LeaseReply::Kind;
  LockRows& lock = tables_.locks[name];
  if (HolderRow* const mine = find(lock, ask.owner)) {
    if (server_.slip() == Slip::token_anew) mine->token = server_.mint();
    mine->until = std::max(mine->until, now_ + ask.ttl);
    if (ask.session) mine->ask.session = ask.session;
    return {.kind = Kind::granted, .token = mine->token};
  }
  if (is_permit(ask.claim) && clashes(lock, ask)) return {.kind = Kind::permits};
  if (wait == Wait::yes) stand(lock, ask);
  Handed handed = hand_over(lock, ask.owner, News::no);
  if (!handed.mine && !handed.head && admits(handed.there, ask.claim)) {
    handed.mine = enter(lock, ask);
  }
  if (handed.mine) return {.kind = Kind::granted, .token = *handed.mine};
  LeaseReply reply = refuse(lock, ask, handed);
  reply.kind = wait == Wait::yes ? Kind::queued : Kind::busy;
  forget(name);
  return reply;
}

const HolderRow* LeaseFunctions::confirm(const std::string& name, std::string_view owner) const {
  const auto lock = tables_.locks.find(name);
  return lock != tables_.locks.end() ? find(lock->second, owner) : nullptr;
}

bool LeaseFunctions::release(const std::string& name,
                             std::string_view owner,
                             std::optional<std::uint64_t> token) {
  const auto found = tables_.locks.find(name);
  if (found == tables_.locks.end()) return false;
  LockRows& lock = found->second;
  const auto mine = std::ranges::find_if(lock.holders, by(owner));
  const bool stood = mine != lock.holders.end() && stands(*mine);
  const bool left = stood || (mine != lock.holders.end() && mine->ask.delay == 0us);
  const bool held = stood && (!token || *token == mine->token);
  if (left) lock.holders.erase(mine);
  const bool behind = !lock.waiters.empty() && lock.waiters.front().ask.owner != owner;
  const bool waited = !stood && std::erase_if(lock.waiters, by(owner)) > 0;
  if (server_.slip() == Slip::release_any) lock.holders.clear();
  const bool awaited = stood ? !lock.waiters.empty() : left || (waited && !behind);
  if (awaited) hand_over(lock, {}, News::yes);
  forget(name);
  return held;
}

LeaseFate LeaseFunctions::renew(const std::string& name, const LeaseAsk& ask, std::uint64_t token) {
  const std::string& owner = ask.owner;
  const WallTime ttl = ask.ttl;
  LockRows& lock = tables_.locks[name];
  if (server_.slip() == Slip::renewal_revives) {
    lock.holders = {{.ask = ask, .token = token, .until = now_ + ttl}};
  }
  HolderRow* const mine = find(lock, owner);
  if (mine != nullptr && mine->token == token) {
    const bool extends = server_.slip() != Slip::renewal_only_says;
    if (extends) mine->until = std::max(mine->until, now_ + ttl);
    if (ask.session) mine->ask.session = ask.session;
    return LeaseFate::renewed;
  }
  forget(name);
  const bool broken = std::ranges::any_of(tables_.broken, [&](const BrokenRow& row) {
    return row.owner == owner && row.token == token;
  });
  if (broken) return LeaseFate::broken;
  const bool later = server_.mint() >> kTimelineShift > token >> kTimelineShift;
  return later ? LeaseFate::failed_over : LeaseFate::gone;
}

LeaseFunctions::Broken LeaseFunctions::end_by_force(const std::string& name) {
  Broken broken;
  std::erase_if(tables_.broken,
                [this](const BrokenRow& row) { return row.at < now_ - kBrokenKept; });
  const auto found = tables_.locks.find(name);
  if (found == tables_.locks.end()) return broken;
  LockRows& lock = found->second;
  sweep(lock);
  const bool opened = !lock.holders.empty();
  for (HolderRow& holder : std::exchange(lock.holders, {})) {
    if (!stands(holder)) continue;
    tables_.broken.push_back({.owner = holder.ask.owner, .token = holder.token, .at = now_});
    tell(holder.ask, "broken " + holder.ask.owner);
    broken.leases.push_back(std::move(holder));
  }
  broken.only_closed = opened && broken.leases.empty();
  if (opened) hand_over(lock, {}, News::yes);
  forget(name);
  return broken;
}

std::optional<WallTime> LeaseFunctions::extend(const std::string& name,
                                               std::string_view owner,
                                               WallTime ttl) {
  const auto lock = tables_.locks.find(name);
  HolderRow* const mine = lock != tables_.locks.end() ? find(lock->second, owner) : nullptr;
  if (mine == nullptr) return std::nullopt;
  mine->until = std::max(mine->until, now_ + ttl);
  return mine->until - now_;
}

LockRows LeaseFunctions::inspect(const std::string& name) const {
  const auto found = tables_.locks.find(name);
  if (found == tables_.locks.end()) return {};
  LockRows lock = found->second;
  sweep(lock);
  std::erase_if(lock.waiters, [this](const WaiterRow& waiter) { return !is_there(waiter); });
  return lock;
}

bool LeaseFunctions::plain_take(const std::string& name, const std::string& owner, WallTime ttl) {
  PlainRow& row = tables_.plain[name];
  if (row.until > now_ && row.owner != owner) return false;
  row = {.owner = owner, .until = now_ + ttl};
  return true;
}

bool LeaseFunctions::plain_extend(const std::string& name, std::string_view owner, WallTime ttl) {
  const auto row = tables_.plain.find(name);
  if (row == tables_.plain.end() || row->second.owner != owner) return false;
  if (row->second.until <= now_) return false;
  row->second.until = now_ + ttl;
  return true;
}

bool LeaseFunctions::plain_release(const std::string& name, std::string_view owner) {
  const auto row = tables_.plain.find(name);
  if (row == tables_.plain.end() || row->second.owner != owner) return false;
  tables_.plain.erase(row);
  return true;
}

}  // namespace holdfast::sim
