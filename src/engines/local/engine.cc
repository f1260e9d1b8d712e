#include "engines/local/engine.h"

#include <unistd.h>

#include <cstring>

#include "base/assert.h"
#include "base/hex.h"
#include "base/secret.h"
#include "engines/local/note.h"

namespace holdfast::local {

Engine::Engine(std::unique_ptr<StateFile> file)
    : file_{std::move(file)}, queue_{*file_}, index_{*file_, [this](Ref slot) {
                                                       sweep(slot, BootClock::now());
                                                     }} {}

Result<std::unique_ptr<Engine>> Engine::open(const std::string& directory) {
  auto file = StateFile::open(directory);
  if (!file) return Unexpected{file.error()};
  std::unique_ptr<Engine> engine{new Engine{std::move(*file)}};
  auto membership = Membership::join(*engine->file_);
  if (!membership) return Unexpected{membership.error()};
  engine->membership_ = std::move(*membership);
  Membership& self = *engine->membership_;
  engine->records_ = std::make_unique<RecordPool>(*engine->file_, self.ref());
  engine->sessions_ =
      std::make_unique<SessionBook>(*engine->file_, self.ref(), [&self] { self.wake(); });
  engine->mint_ = std::make_unique<TokenMint>(*engine->file_, [&self] { self.wake(); });
  return engine;
}

Engine::~Engine() {
  if (membership_ == nullptr) return;
  membership_->stop_chores();
  clear_member(membership_->ref(), BootClock::now());
}

std::string Engine::domain() { return "local:" + to_hex(header().identity); }

Result<Ref> Engine::take_record(const Request& request) {
  const bool common = request.kind == LeaseKind::detached;
  auto record = common ? allocate(*file_, Kind::commons) : records_->take();
  if (!record) return record;
  Contender& contender = file_->at<Contender>(*record);
  if (common) contender.place.store(Place{contender.place.load()}.next_use().raw);
  if (!common && request.label.empty() && request.trace_id.empty()) [[likely]] {
    contender.note.store(0, std::memory_order_relaxed);
    return record;
  }
  char host[Member::kHostBytes] = {};
  if (common) gethostname(host, sizeof host - 1);
  const auto note = write_note(*file_, host, request.label, request.trace_id);
  contender.note.store(note ? *note : 0);
  if (note) return record;
  discard_record(*record, request.kind);
  return note;
}

void Engine::discard_record(Ref record, LeaseKind kind) {
  Contender& contender = file_->at<Contender>(record);
  if (const Ref note = contender.note.load(std::memory_order_relaxed); note != 0) {
    contender.note.store(0, std::memory_order_relaxed);
    free_note(*file_, note);
  }
  if (kind == LeaseKind::session) return records_->give(record);
  contender.place.store(Place{contender.place.load()}.handed_back().raw);
  recycle(*file_, Kind::commons, record);
}

void Engine::fill_record(
    Ref record, const Request& request, Ref session, const Owner& owner, TimePoint now) {
  constexpr auto relaxed = std::memory_order_relaxed;
  Contender& contender = file_->at<Contender>(record);
  ClaimWord claim = ClaimWord::of(request.claim);
  if (request.by_mail) claim = claim.with(ClaimWord::kByMail);
  if (request.kind == LeaseKind::detached) claim = claim.with(ClaimWord::kCommon);
  contender.claim.store(claim.raw, relaxed);
  begin(contender.lifeline, now + request.ttl);
  contender.session.store(session, relaxed);
  contender.session_epoch.store(file_->at<Session>(session).epoch.load(relaxed), relaxed);
  contender.member.store(membership_->ref(), relaxed);
  contender.pid.store(membership_->record().pid.load(relaxed), relaxed);
  contender.newer.store(0, relaxed);
  std::uint64_t words[2];
  std::memcpy(words, owner.bytes().data(), sizeof words);
  contender.owner[0].store(words[0], relaxed);
  contender.owner[1].store(words[1], relaxed);
  contender.since_ns.store(to_ns(now), relaxed);
  contender.delay_until_ns.store(0, relaxed);
  contender.ttl_ms.store(static_cast<std::uint32_t>(request.ttl.count()), relaxed);
  contender.lock_delay_ms.store(static_cast<std::uint32_t>(request.lock_delay.count()), relaxed);
}

Result<Ticket> Engine::enter(std::string_view name, const Request& request, TimePoint now) {
  // Filled where the caller will find it: copies of a ticket would be a tenth of the time.
  Result<Ticket> result{std::in_place};
  auto entered = enter_as(*result, name, request, now);
  if (!entered) result = Result<Ticket>{Unexpected{std::move(entered.error())}};
  return result;
}

Result<void> Engine::enter_as(Ticket& ticket,
                              std::string_view name,
                              const Request& request,
                              TimePoint now) {
  SessionEntry& entry = sessions_->entry(request.ttl);
  const auto session = sessions_->living(entry, now);
  if (!session) return Unexpected{session.error()};
  const auto record = take_record(request);
  if (!record) return Unexpected{record.error()};
  ticket.contender = *record;
  ticket.session_entry = &entry;
  ticket.session = *session;
  ticket.kind = request.kind;
  ticket.owner = fresh_owner();
  fill_record(*record, request, *session, ticket.owner, now);
  Contender& contender = file_->at<Contender>(*record);
  ticket.place = Place{contender.place.load(std::memory_order_relaxed)};
  const NameKey key{name};
  while (true) {
    Found found = index_.find(key);
    if (found.slot == 0) {
      const auto added = index_.find_or_add(key);
      if (!added) return discard_record(*record, request.kind), Unexpected{added.error()};
      found = *added;
    }
    // Minted after the head was read: whoever entered before has a lower token, and whoever enters
    // in between makes the swap of the head fail.
    std::uint64_t token = mint_->mint_at_once();
    if (token == 0) [[unlikely]] {
      const auto minted = mint_->mint();
      if (!minted) return discard_record(*record, request.kind), Unexpected{minted.error()};
      token = *minted;
    }
    contender.token.store(token, std::memory_order_relaxed);
    contender.slot.store(found.slot, std::memory_order_relaxed);
    ticket.first = found.head.ref() == 0;
    contender.phase.store(ticket.first ? Contender::kHolding : Contender::kWaiting,
                          std::memory_order_relaxed);
    if (!queue_.enter(found.slot, found.head, *record)) continue;
    ticket.slot = found.slot;
    ticket.token = Token{token};
    announce_change(now);
    return {};
  }
}

bool Engine::take_if_first(Ticket& ticket) {
  if (!ticket.first || ticket.kind == LeaseKind::detached) return false;
  return !has_expired(file_->at<Session>(ticket.session).lifeline);
}

Mark Engine::leave(const Ticket& ticket) {
  Contender& contender = file_->at<Contender>(ticket.contender);
  const bool common = ticket.kind == LeaseKind::detached;
  if (!common && queue_.leave_alone(ticket.slot, ticket.contender)) [[likely]] {
    const Mark found = Place{contender.place.load(std::memory_order_relaxed)}.mark();
    discard_record(ticket.contender, ticket.kind);
    if (header().watched_until_ns.load(std::memory_order_relaxed) != 0) {
      announce_change(BootClock::now());
    }
    return found == Mark::none ? Mark::left : found;
  }
  const TimePoint now = BootClock::now();
  const Mark mark = queue_.mark(ticket.contender, ticket.place, Mark::left);
  wake_next(ticket.slot, ticket.contender, ticket.place, now);
  if (Versioned{file_->at<Slot>(ticket.slot).head.load()}.ref() == ticket.contender) {
    std::vector<Seen> seen;
    queue_.walk(ticket.slot, seen);
  }
  if (!common) records_->give_later(ticket.contender);
  announce_change(now);
  // Its record serves another use already: only somebody else's mark can have freed it.
  return mark == Mark::none ? Mark::expired : mark;
}

Mark Engine::mark_of(const Ticket& ticket) {
  const Place place{file_->at<Contender>(ticket.contender).place.load()};
  return place.generation() == ticket.place.generation() ? place.mark() : Mark::expired;
}

void Engine::vanish(const Ticket& ticket) {
  Contender& contender = file_->at<Contender>(ticket.contender);
  const Millis delay{contender.lock_delay_ms.load()};
  if (delay == Millis{0} || mark_of(ticket) != Mark::none) {
    leave(ticket);
    return;
  }
  std::int64_t until = 0;
  contender.delay_until_ns.compare_exchange_strong(until, to_ns(BootClock::now() + delay));
  wake_next(ticket.slot, ticket.contender, ticket.place, BootClock::now());
  if (ticket.kind == LeaseKind::session) records_->give_later(ticket.contender);
}

TimePoint Engine::deadline(const Ticket& ticket) {
  Contender& contender = file_->at<Contender>(ticket.contender);
  const bool detached = ticket.place.detached();
  const LifelineWord line =
      read(detached ? contender.lifeline : file_->at<Session>(ticket.session).lifeline);
  // A detached lease's record may be somebody else's by now.
  const bool own = Place{contender.place.load()}.generation() == ticket.place.generation();
  return line.expired() || !own ? TimePoint{} : line.deadline();
}

Renewal Engine::renew(const Ticket& ticket, TimePoint now) {
  if (mark_of(ticket) != Mark::none) return Renewal::expired;
  if (!ticket.place.detached()) {
    return local::renew(file_->at<Session>(ticket.session).lifeline,
                        now + ticket.session_entry->ttl());
  }
  Contender& contender = file_->at<Contender>(ticket.contender);
  if (expire_if_due(contender.lifeline, now)) return Renewal::expired;
  const Renewal renewal = local::renew(contender.lifeline, now + Millis{contender.ttl_ms.load()});
  return mark_of(ticket) == Mark::none ? renewal : Renewal::expired;
}

void Engine::tell_watchers() {
  header().changes.fetch_add(1);
  futex_wake(header().changes, INT32_MAX);
}

void Engine::keep_watching(TimePoint until) {
  auto& watched = header().watched_until_ns;
  std::int64_t current = watched.load();
  while (current < to_ns(until) && !watched.compare_exchange_weak(current, to_ns(until))) {
  }
}

}  // namespace holdfast::local
