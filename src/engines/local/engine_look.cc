// Who holds, who waits, who is over: the engine's judgement of a queue.

#include <algorithm>
#include <climits>

#include "engines/local/engine.h"

namespace holdfast::local {

Engine::Life Engine::life_of(const Seen& seen, TimePoint now) {
  if (seen.place.detached()) {
    Lifeline& line = file_->at<Contender>(seen.ref).lifeline;
    const bool over = expire_if_due(line, now);
    return {.liveness = over ? Liveness::over : Liveness::live, .ends = deadline_of(line)};
  }
  Session& session = file_->at<Session>(seen.session);
  if (session.epoch.load() != seen.session_epoch) return {.liveness = Liveness::over, .ends = now};
  const Member& member = file_->at<Member>(session.member.load());
  if (!is_alive(member)) {
    // The kernel woke one of those who watch this process; the others are to learn of it too.
    futex_wake(member.life, INT_MAX);
    return {.liveness = Liveness::over, .ends = now};
  }
  const bool over = expire_if_due(session.lifeline, now);
  return {.liveness = over ? Liveness::over : Liveness::live,
          .ends = deadline_of(session.lifeline)};
}

Engine::Life Engine::life_of_holder(const Seen& seen, TimePoint now) {
  const Life life = life_of(seen, now);
  Contender& contender = file_->at<Contender>(seen.ref);
  const Millis delay{contender.lock_delay_ms.load()};
  const bool held = contender.phase.load() == Contender::kHolding;
  if (delay == Millis{0} || !held) return life;
  std::int64_t until = contender.delay_until_ns.load();
  const bool vanished = life.liveness != Liveness::live || until != 0;
  if (!vanished) return life;
  until = 0;
  const std::int64_t proposed = to_ns(life.ends + delay);
  if (contender.delay_until_ns.compare_exchange_strong(until, proposed)) until = proposed;
  const bool over = to_ns(now) >= until;
  return {.liveness = over ? Liveness::over : Liveness::delayed, .ends = from_ns(until)};
}

Engine::Assessment Engine::assess(const std::vector<Seen>& seen, TimePoint now) {
  Assessment result;
  result.there.reserve(seen.size());
  for (auto it = seen.rbegin(); it != seen.rend(); ++it) {
    const core::Claim claim = it->claim.claim();
    const bool holds = result.sum.admit(claim) == core::Admission::granted;
    const Life life = holds ? life_of_holder(*it, now) : life_of(*it, now);
    if (life.liveness == Liveness::over) {
      const bool waits = file_->at<Contender>(it->ref).phase.load() == Contender::kWaiting;
      const Mark mark = queue_.mark(it->ref, it->place, Mark::expired);
      // It may be alive after all, if late: let it find out.
      if (mark == Mark::expired && waits) queue_.poke(it->ref);
      result.outdated = true;
      continue;
    }
    if (holds && life.ends < result.first_end) result.first_end = life.ends;
    result.all_hold = result.all_hold && holds;
    const bool delayed = life.liveness == Liveness::delayed;
    result.sum.add(delayed ? core::Claim{} : claim);
    result.there.push_back({.seen = *it, .holds = holds && !delayed, .ends = life.ends});
  }
  return result;
}

Standing Engine::look(const Ticket& ticket, TimePoint now) {
  std::vector<Seen> seen;
  Assessment ahead;
  // What was true before somebody was taken out may not be any more.
  do {
    if (!queue_.walk_ahead(ticket.contender, seen)) return {.state = Standing::State::out};
    ahead = assess(seen, now);
  } while (ahead.outdated);
  const Contender& self = file_->at<Contender>(ticket.contender);
  const core::Claim claim = ClaimWord{self.claim.load()}.claim();
  Standing standing;
  switch (ahead.sum.admit(claim)) {
    case core::Admission::granted:
      standing.state = Standing::State::granted;
      return standing;
    case core::Admission::permits_differ:
      standing.state = Standing::State::permits_differ;
      return standing;
    case core::Admission::must_wait:
      break;
  }
  if (ahead.all_hold) standing.look_again = ahead.first_end;
  standing.in_the_way = ahead.there.front().seen.ref;
  // Whoever is right ahead tells us when it leaves, and its process's death is ours to notice. A
  // permit may come free anywhere ahead.
  const std::size_t watched = claim.mode == Mode::permit ? ahead.there.size() : 1;
  for (std::size_t i = 0; i < watched && standing.lives_count < standing.lives.size(); ++i) {
    const auto& entry = ahead.there[ahead.there.size() - 1 - i];
    const Seen& other = entry.seen;
    if (other.place.detached()) continue;
    const Ref member = file_->at<Session>(other.session).member.load();
    const auto& life = file_->at<Member>(member).life;
    if (member == membership_->ref()) continue;
    const std::uint32_t value = life.load();
    if (!is_alive(file_->at<Member>(member))) {
      standing.look_again = now;
      continue;
    }
    standing.lives[standing.lives_count++] = {.word = &life, .expected = value};
    // A stopped process says nothing; whoever is behind it looks when its time is up.
    standing.look_again = std::min(standing.look_again, entry.ends);
  }
  return standing;
}

bool Engine::confirm(Ticket& ticket, TimePoint now) {
  Contender& contender = file_->at<Contender>(ticket.contender);
  Session& session = file_->at<Session>(ticket.session);
  if (local::renew(session.lifeline, now + ticket.session_entry->ttl()) == Renewal::expired) {
    return false;
  }
  if (ticket.kind == LeaseKind::detached) {
    // Judgements of its session that were made before this swap cannot take it out any more.
    std::uint64_t attached = ticket.place.raw;
    const Place detached = ticket.place.as_detached();
    if (!contender.place.compare_exchange_strong(attached, detached.raw)) return false;
    ticket.place = detached;
    ticket.session_entry = nullptr;
    const TimePoint ends = now + Millis{contender.ttl_ms.load()};
    if (local::renew(contender.lifeline, ends) == Renewal::expired) return false;
  }
  contender.since_ns.store(to_ns(now));
  contender.phase.store(Contender::kHolding);
  if (mark_of(ticket) != Mark::none) return false;
  const bool others_may_follow =
      ClaimWord{contender.claim.load()}.claim().mode != Mode::exclusive &&
      Versioned{file_->at<Slot>(ticket.slot).head.load()}.ref() != ticket.contender;
  if (others_may_follow) wake_next(ticket.slot, ticket.contender, ticket.place, now);
  announce_change(now);
  return true;
}

void Engine::wake_next(Ref slot, Ref contender, Place place, TimePoint now) {
  const Ref next = queue_.behind(contender, place);
  if (next == 0) return wake_oldest_waiter(slot, now);
  Contender& waiter = file_->at<Contender>(next);
  const Seen seen{.ref = next,
                  .place = Place{waiter.place.load()},
                  .claim = ClaimWord{waiter.claim.load()},
                  .session = waiter.session.load(),
                  .session_epoch = waiter.session_epoch.load()};
  if (life_of(seen, now).liveness != Liveness::live) return wake_oldest_waiter(slot, now);
  queue_.poke(next);
}

void Engine::wake_oldest_waiter(Ref slot, TimePoint now) {
  std::vector<Seen> seen;
  queue_.walk(slot, seen);
  for (const auto& entry : assess(seen, now).there) {
    if (file_->at<Contender>(entry.seen.ref).phase.load() == Contender::kHolding) continue;
    return queue_.poke(entry.seen.ref);
  }
}

Queue::Walk Engine::sweep(Ref slot, TimePoint now) {
  std::vector<Seen> seen;
  Queue::Walk walk = queue_.walk(slot, seen);
  if (!assess(seen, now).outdated) return walk;
  wake_oldest_waiter(slot, now);
  announce_change(now);
  return queue_.walk(slot, seen);
}

void Engine::recheck(Ref contender, TimePoint now) {
  const Contender& self = file_->at<Contender>(contender);
  const Ref session = self.session.load();
  const Link link{self.link.load()};
  const bool session_over = session != 0 && has_expired(file_->at<Session>(session).lifeline);
  if (link.ref() == 0 || session_over) return queue_.poke(contender);
  Contender& ahead = file_->at<Contender>(link.ref());
  const Place place{ahead.place.load()};
  const Seen seen{.ref = link.ref(),
                  .place = place,
                  .claim = ClaimWord{ahead.claim.load()},
                  .session = ahead.session.load(),
                  .session_epoch = ahead.session_epoch.load()};
  const bool stands = link.leads_to(place) && place.mark() == Mark::none &&
                      ahead.phase.load() == Contender::kWaiting &&
                      life_of(seen, now).liveness == Liveness::live;
  if (!stands) queue_.poke(contender);
}

}  // namespace holdfast::local
