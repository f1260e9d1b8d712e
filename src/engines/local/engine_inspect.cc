// The engine as seen from outside: listing, breaking, and leases known by their owner alone.

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "engines/local/engine.h"
#include "engines/local/note.h"

namespace holdfast::local {
namespace {

std::int64_t wall_ms(TimePoint time) {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const auto since = std::chrono::seconds{wall.tv_sec} + std::chrono::nanoseconds{wall.tv_nsec};
  const auto then = since - (BootClock::now() - time);
  return std::chrono::duration_cast<Millis>(then).count();
}

Owner owner_of(const Contender& contender) {
  const std::array<std::uint64_t, 2> words{contender.owner[0].load(), contender.owner[1].load()};
  Owner::Bytes bytes{};
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return Owner{bytes};
}

std::string host_of(const Member& member) {
  std::string host;
  for (const auto& c : member.host) {
    if (c.load() == '\0') break;
    host.push_back(c.load());
  }
  return host;
}

}  // namespace

std::optional<holdfast::Contender> Engine::describe(Ref ref, TimePoint now) {
  Contender& contender = file_->at<Contender>(ref);
  const Place place{contender.place.load()};
  NoteText note = read_note(*file_, contender.note.load());
  if (note.host.empty()) note.host = host_of(file_->at<Member>(contender.member.load()));
  const TimePoint ends =
      deadline_of(place.detached() ? contender.lifeline
                                   : file_->at<Session>(contender.session.load()).lifeline);
  holdfast::Contender result{
      .owner_fp = owner_of(contender).fingerprint(),
      .mode = ClaimWord{contender.claim.load()}.claim().mode,
      .token = Token{contender.token.load()},
      .host = std::move(note.host),
      .pid = contender.pid.load(),
      .label = std::move(note.label),
      .trace_id = std::move(note.trace_id),
      .since_ms = wall_ms(from_ns(contender.since_ns.load())),
      .ttl = std::chrono::duration_cast<Millis>(std::max(ends - now, Duration::zero())),
      .foreign = false};
  if (contender.place.load() != place.raw || !place.in_use()) return std::nullopt;
  return result;
}

LockInfo Engine::describe_queue(Ref slot, const std::string& name, TimePoint now) {
  LockInfo info;
  info.name = name;
  std::vector<Seen> seen;
  queue_.walk(slot, seen);
  const Assessment found = assess(seen, now);
  for (const auto& entry : found.there) {
    auto contender = describe(entry.seen.ref, now);
    if (!contender) continue;
    const Contender& record = file_->at<Contender>(entry.seen.ref);
    if (const std::int64_t until = record.delay_until_ns.load(); until != 0) {
      info.delay = std::max(info.delay, std::chrono::duration_cast<Millis>(from_ns(until) - now));
      continue;
    }
    const core::Claim claim = entry.seen.claim.claim();
    info.permits = std::max(info.permits, claim.permits);
    (entry.holds ? info.holders : info.waiters).push_back(std::move(*contender));
  }
  const auto& first = info.holders.empty() ? info.waiters : info.holders;
  if (!first.empty()) info.mode = first.front().mode;
  return info;
}

LockInfo Engine::inspect(std::string_view name, TimePoint now) {
  const Found found = index_.find(NameKey{name});
  if (found.slot != 0) return describe_queue(found.slot, std::string{name}, now);
  LockInfo nobody;
  nobody.name = name;
  return nobody;
}

std::vector<LockInfo> Engine::list(std::string_view prefix, TimePoint now) {
  std::vector<LockInfo> locks;
  index_.for_each([&](Ref slot, const std::string& name) {
    if (!name.starts_with(prefix)) return;
    LockInfo info = describe_queue(slot, name, now);
    const bool used = !info.holders.empty() || !info.waiters.empty() || info.delay > Millis{0};
    if (used) locks.push_back(std::move(info));
  });
  std::ranges::sort(locks, {}, &LockInfo::name);
  return locks;
}

std::vector<holdfast::Contender> Engine::break_holders(std::string_view name, TimePoint now) {
  std::vector<holdfast::Contender> broken;
  const Found found = index_.find(NameKey{name});
  if (found.slot == 0) return broken;
  std::vector<Seen> seen;
  queue_.walk(found.slot, seen);
  // The slot may have been given to another name before the walk.
  if (index_.find(NameKey{name}).slot != found.slot) return broken;
  for (const auto& entry : assess(seen, now).there) {
    Contender& contender = file_->at<Contender>(entry.seen.ref);
    const bool delaying = contender.delay_until_ns.load() != 0;
    if (!entry.holds && !delaying) continue;
    const auto described = describe(entry.seen.ref, now);
    const Ref member = contender.member.load();
    if (queue_.mark(entry.seen.ref, entry.seen.place, Mark::broken) != Mark::broken) continue;
    if (described) broken.push_back(*described);
    if (member == 0 || entry.seen.place.detached()) continue;
    file_->at<Member>(member).mail.fetch_add(1);
    futex_wake(file_->at<Member>(member).mail, 1);
  }
  wake_oldest_waiter(found.slot, now);
  announce_change(now);
  return broken;
}

std::optional<Seen> Engine::find_detached(std::string_view name, const Owner& owner, Ref& slot) {
  slot = index_.find(NameKey{name}).slot;
  if (slot == 0) return std::nullopt;
  std::vector<Seen> seen;
  queue_.walk(slot, seen);
  for (const Seen& candidate : seen) {
    if (candidate.place.detached() && owner_of(file_->at<Contender>(candidate.ref)) == owner)
      return candidate;
  }
  return std::nullopt;
}

Result<TimePoint> Engine::renew_detached(std::string_view name,
                                         const Owner& owner,
                                         Millis ttl,
                                         TimePoint now) {
  const Error lost{Errc::lost, "no lease of that owner stands on \"" + std::string{name} + "\""};
  Ref slot = 0;
  const auto found = find_detached(name, owner, slot);
  if (!found) return Unexpected{lost};
  Contender& contender = file_->at<Contender>(found->ref);
  if (expire_if_due(contender.lifeline, now)) return Unexpected{lost};
  if (local::renew(contender.lifeline, now + ttl) == Renewal::expired) return Unexpected{lost};
  if (Place{contender.place.load()} != found->place) return Unexpected{lost};
  contender.ttl_ms.store(static_cast<std::uint32_t>(ttl.count()));
  return now + ttl;
}

Result<ReleaseOutcome> Engine::release_detached(std::string_view name, const Owner& owner) {
  const TimePoint now = BootClock::now();
  Ref slot = 0;
  const auto found = find_detached(name, owner, slot);
  if (!found || expire_if_due(file_->at<Contender>(found->ref).lifeline, now)) {
    return ReleaseOutcome::already_lost;
  }
  if (queue_.mark(found->ref, found->place, Mark::left) != Mark::left) {
    return ReleaseOutcome::already_lost;
  }
  wake_oldest_waiter(slot, now);
  announce_change(now);
  return ReleaseOutcome::released;
}

}  // namespace holdfast::local
