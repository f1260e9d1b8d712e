// The contenders of one lock, newest first, as a linked list that any process may walk, extend and
// tidy at any moment, and that is whole after every single instruction.
//
// A contender enters with one compare-and-swap of the slot's head. It is out of the queue as soon
// as its place is marked; whoever walks past takes it off the list. The swap that takes it off
// gives the right, once, to hand its record back.
//
// Thread safety: any thread of any process. docs/internals/local.md argues why it is right.

#pragma once

#include <cstdint>
#include <vector>

#include "engines/local/claim_word.h"
#include "engines/local/layout.h"
#include "engines/local/state_file.h"

namespace holdfast::local {

/// One contender as a walk met it.
struct Seen {
  Ref ref{0};
  Place place{};
  ClaimWord claim{};
  Ref session{0};
  std::uint32_t session_epoch{0};
};

class Queue {
 public:
  explicit Queue(StateFile& file) : file_{file} {}

  /// Every contender that is not marked, newest first; marked ones are taken off on the way.
  /// Replaces the content of `seen`. tidy: nothing else is on the list any more.
  enum class Walk { tidy, untidy };
  Walk walk(Ref slot, std::vector<Seen>& seen);

  /// The same for those ahead of (older than) `contender`, which must be in the queue.
  /// False: `contender` itself is marked.
  bool walk_ahead(Ref contender, std::vector<Seen>& seen);

  /// Puts `contender`, filled in except for its link, at the newest end, if the head is still
  /// `head`. False: it has changed, and nothing has happened.
  bool enter(Ref slot, Versioned head, Ref contender);

  /// The only contender leaves an otherwise empty queue. False: it is not the only one any more.
  bool leave_alone(Ref slot, Ref contender);

  /// Marks a contender out of the queue, if it is still as `place` says. Returns the mark it
  /// carries now: `mark`, or that of somebody who came first; Mark::none if it is not what it was.
  Mark mark(Ref contender, Place place, Mark mark);

  /// Makes a waiting contender look again.
  void poke(Ref contender);

  /// The waiter that entered right behind `contender`, if that is known and still true; else 0.
  Ref behind(Ref contender, Place place);

 private:
  enum class Pace { tidy, untidy, lost };
  Pace follow(Ref from, Link link, std::vector<Seen>& seen);
  Link freeze(Contender& contender);
  void hand_back(Ref contender, Place place);

  StateFile& file_;
};

}  // namespace holdfast::local
