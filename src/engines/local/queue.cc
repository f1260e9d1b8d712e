#include "engines/local/queue.h"

#include "engines/local/futex.h"
#include "engines/local/note.h"
#include "engines/local/pool.h"

namespace holdfast::local {
namespace {

Seen look(Contender& contender, Ref ref, Place place) {
  return {.ref = ref,
          .place = place,
          .claim = ClaimWord{contender.claim.load(std::memory_order_relaxed)},
          .session = contender.session.load(),
          .session_epoch = contender.session_epoch.load()};
}

}  // namespace

Queue::Walk Queue::walk(Ref slot, std::vector<Seen>& seen) {
  auto& head_word = file_.at<Slot>(slot).head;
  while (true) {
    seen.clear();
    Versioned head{head_word.load()};
    if (head.ref() == 0 || head.ref() == Slot::kRetired) return Walk::tidy;
    Contender& newest = file_.at<Contender>(head.ref());
    const Place place{newest.place.load()};
    if (place.mark() == Mark::none) {
      const Link link{newest.link.load()};
      seen.push_back(look(newest, head.ref(), place));
      if (head_word.load() != head.raw) continue;
      const Pace pace = follow(head.ref(), link.thaw(), seen);
      if (pace == Pace::lost) continue;
      return pace == Pace::tidy ? Walk::tidy : Walk::untidy;
    }
    const Link link = freeze(newest);
    if (head_word.compare_exchange_strong(head.raw, head.next(link.ref()).raw)) {
      hand_back(head.ref(), place);
    }
  }
}

bool Queue::walk_ahead(Ref contender, std::vector<Seen>& seen) {
  Contender& self = file_.at<Contender>(contender);
  while (Place{self.place.load()}.mark() == Mark::none) {
    seen.clear();
    const Link link{self.link.load()};
    if (follow(contender, link.thaw(), seen) != Pace::lost) return true;
  }
  return false;
}

// Walks on from `from`, whose link was read as `link`. lost: the list changed underfoot; begin
// anew. untidy: something marked had to be left on it.
Queue::Pace Queue::follow(Ref from, Link link, std::vector<Seen>& seen) {
  Pace pace = Pace::tidy;
  while (link.ref() != 0) {
    const Ref ref = link.ref();
    Contender& older = file_.at<Contender>(ref);
    const Place place{older.place.load()};
    if (!link.leads_to(place)) return Pace::lost;
    if (place.mark() == Mark::none) {
      const Link next{older.link.load()};
      seen.push_back(look(older, ref, place));
      if (older.place.load() != place.raw) return Pace::lost;
      from = ref;
      link = next.thaw();
      continue;
    }
    const Link past = freeze(older).thaw();
    if (older.place.load() != place.raw) return Pace::lost;
    Contender& referrer = file_.at<Contender>(from);
    std::uint64_t expected = link.raw;
    if (referrer.link.compare_exchange_strong(expected, past.raw)) {
      hand_back(ref, place);
      if (past.ref() != 0) file_.at<Contender>(past.ref()).newer.store(from);
    } else if (Link{expected}.thaw().raw != link.raw) {
      return Pace::lost;
    } else {
      // The referrer's link may not be changed, so what it leads to stays until the referrer itself
      // is taken off.
      pace = Pace::untidy;
      from = ref;
    }
    link = past;
  }
  return pace;
}

Link Queue::freeze(Contender& contender) {
  Link link{contender.link.load()};
  while (!link.frozen() && !contender.link.compare_exchange_weak(link.raw, link.freeze().raw)) {
  }
  return link;
}

bool Queue::enter(Ref slot, Versioned head, Ref contender) {
  Contender& self = file_.at<Contender>(contender);
  Link link{};
  Place over{};
  if (head.ref() != 0) {
    Contender& newest = file_.at<Contender>(head.ref());
    const Place place{newest.place.load()};
    if (place.mark() == Mark::none) {
      link = Link::to(head.ref(), place);
    } else {
      link = freeze(newest).thaw();
      over = place;
    }
  }
  self.link.store(link.ref() == 0 ? 0 : link.unpublished().raw, std::memory_order_release);
  std::uint64_t expected = head.raw;
  // The head being unchanged also says that what was read of its contender above was true.
  if (!file_.at<Slot>(slot).head.compare_exchange_strong(expected, head.next(contender).raw)) {
    return false;
  }
  if (over.in_use()) hand_back(head.ref(), over);
  if (link.ref() != 0) {
    self.link.fetch_and(~Link::kUnpublished);
    file_.at<Contender>(link.ref()).newer.store(contender);
  }
  return true;
}

bool Queue::leave_alone(Ref slot, Ref contender) {
  auto& head_word = file_.at<Slot>(slot).head;
  Versioned head{head_word.load()};
  if (head.ref() != contender) return false;
  if (Link{file_.at<Contender>(contender).link.load()}.ref() != 0) return false;
  return head_word.compare_exchange_strong(head.raw, head.next(0).raw);
}

Mark Queue::mark(Ref contender, Place place, Mark mark) {
  auto& word = file_.at<Contender>(contender).place;
  std::uint64_t expected = place.raw;
  if (word.compare_exchange_strong(expected, place.marked(mark).raw)) return mark;
  const Place now{expected};
  return now.generation() == place.generation() ? now.mark() : Mark::none;
}

void Queue::hand_back(Ref contender, Place place) {
  if (!place.in_use()) return;
  Contender& record = file_.at<Contender>(contender);
  const bool common = ClaimWord{record.claim.load()}.common();
  const Ref note = record.note.load();
  std::uint64_t expected = place.raw;
  // A swap, not a store: its owner may have found out by a walk of its own and be using it again.
  if (!record.place.compare_exchange_strong(expected, place.handed_back().raw)) return;
  if (!common) return;
  free_note(file_, note);
  recycle(file_, Kind::commons, contender);
}

Ref Queue::behind(Ref contender, Place place) {
  const Ref newer = file_.at<Contender>(contender).newer.load();
  if (newer == 0) return 0;
  Contender& candidate = file_.at<Contender>(newer);
  const Place its{candidate.place.load()};
  const Link link{candidate.link.load()};
  const bool right_behind = link.ref() == contender && link.leads_to(place);
  const bool waits = candidate.phase.load() == Contender::kWaiting;
  const bool there = its.in_use() && its.mark() == Mark::none;
  const bool unchanged = candidate.place.load() == its.raw;
  return right_behind && waits && there && unchanged ? newer : 0;
}

void Queue::poke(Ref contender) {
  Contender& waiter = file_.at<Contender>(contender);
  const bool by_mail = ClaimWord{waiter.claim.load()}.by_mail();
  const Ref member = waiter.member.load();
  waiter.signal.fetch_add(1);
  futex_wake(waiter.signal, 1);
  if (!by_mail || member == 0) return;
  Member& recipient = file_.at<Member>(member);
  recipient.mail.fetch_add(1);
  futex_wake(recipient.mail, 1);
}

}  // namespace holdfast::local
