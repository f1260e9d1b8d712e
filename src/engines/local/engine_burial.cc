// Tidying up after processes that died, and after this one.

#include <algorithm>

#include "engines/local/engine.h"
#include "engines/local/note.h"

namespace holdfast::local {

void Engine::bury_the_dead(TimePoint now) {
  for (Ref ref = header().members.load(); ref != 0; ref = file_->at<Member>(ref).next.load()) {
    if (ref == membership_->ref() || !membership_->begin_burial(ref)) continue;
    const bool cleared = clear_member(ref, now);
    membership_->end_burial(ref,
                            cleared ? Membership::Burial::complete : Membership::Burial::postponed);
  }
}

// False: something of the member's has to stay for now.
bool Engine::clear_member(Ref ref, TimePoint now) {
  Member& member = file_->at<Member>(ref);
  bool cleared = true;
  for (Ref block = member.blocks.load(); block != 0; block = file_->at<Block>(block).next.load()) {
    for (Contender& contender : file_->at<Block>(block).contenders) {
      if (Place{contender.place.load()}.in_use() && !clear_contender(contender, now)) {
        cleared = false;
      }
    }
  }
  if (!cleared) return false;
  // Off the member's list before it goes on the free list: dying in between loses a piece, no more.
  while (const Ref session = member.sessions.load()) {
    member.sessions.store(file_->at<Session>(session).next.load());
    recycle(*file_, Kind::session, session);
  }
  while (const Ref block = member.blocks.load()) {
    member.blocks.store(file_->at<Block>(block).next.load());
    recycle(*file_, Kind::block, block);
  }
  return true;
}

bool Engine::clear_contender(Contender& contender, TimePoint now) {
  const Ref ref = file_->ref_of(&contender);
  const bool own = contender.member.load() == membership_->ref();
  const bool delays = contender.delay_until_ns.load() != 0;
  if (own && !delays) queue_.mark(ref, Place{contender.place.load()}, Mark::left);
  if (const Ref slot = contender.slot.load(); slot != 0) {
    sweep(slot, now);
    std::vector<Seen> seen;
    // What an untidy walk left on the list may be just this contender.
    if (queue_.walk(slot, seen) != Queue::Walk::tidy) return false;
    if (std::ranges::any_of(seen, [&](const Seen& other) { return other.ref == ref; })) {
      return false;
    }
  }
  free_note(*file_, contender.note.exchange(0));
  contender.place.store(Place{contender.place.load()}.handed_back().raw);
  return true;
}

}  // namespace holdfast::local
