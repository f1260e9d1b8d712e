// Wishes that another candidate lead: made by anybody, and heeded by leaders that watch for them.
//
// A wish is the lock of core::next_leader_name(), as a leader that hands over takes it itself:
// docs/adr/0011-hand-over-by-a-second-lock.md.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/election.h"
#include "recipes/candidacy.h"

namespace holdfast::recipes {

/// Wishes that the candidate lead, and waits until it does, for `patience` at most. The leader has
/// to watch for wishes: otherwise this ends in vain.
///
/// not_found: nobody leads, or no such candidate waits. timeout: another leads, or nobody yet.
/// invalid_argument: the name or the id. Otherwise as Client::acquire(). No wish is left.
Result<Leader> wish_for(Client& client,
                        std::string_view name,
                        std::string_view id,
                        Millis patience,
                        std::stop_token stop);

/// Tells a leader whom it is to give way to.
///
/// Thread safety: any thread. Lifetime: nothing is called after its end, which waits for a call
/// under way.
class WishWatch {
 public:
  using OnWish = std::function<void(const std::string& id)>;

  /// `on_wish` is called once at most, on a thread of the engine's, with the id of a candidate that
  /// waits. It must neither block nor end the watch.
  WishWatch(const Client& client, const CandidacyTerms& terms, OnWish on_wish);
  ~WishWatch();
  WishWatch(const WishWatch&) = delete;
  WishWatch& operator=(const WishWatch&) = delete;

 private:
  class Watching;

  std::shared_ptr<Watching> watching_;
};

}  // namespace holdfast::recipes
