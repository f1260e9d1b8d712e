// HandOver: gives a leadership up for one candidate.
//
// It holds the lock that names the next leader from before it gives the leadership up until the
// named one leads, or its patience is over.
//
// Thread safety: any thread. Lifetime: keeps itself alive until its answer is given.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/backend.h"
#include "recipes/deadline_watch.h"
#include "recipes/term.h"

namespace holdfast::recipes {

class HandOver : public std::enable_shared_from_this<HandOver> {
 public:
  using Done = std::function<void(Result<void>)>;

  /// `done` is called once, on a thread of the engine's or before this returns; it must not block.
  static void start(std::shared_ptr<Term> term, std::string to, Millis patience, Done done);

  HandOver(std::shared_ptr<Term> term, std::string to, Millis patience, Done done);

 private:
  void look_for_candidate();
  void name_it(std::string next_name);
  void step_down();
  void watch();
  void judge(const Result<LockInfo>& lock);
  void finish(Result<void> result);

  std::shared_ptr<Term> term_;
  std::string to_;
  Millis patience_;
  Done done_;
  TimePoint until_;
  std::shared_ptr<LockObservation> lock_;
  std::shared_ptr<Lease> next_;
  /// Who was seen to lead last, for messages.
  std::string seen_{"nobody"};
  std::stop_source over_;
  std::optional<DeadlineWatch> impatience_;
};

}  // namespace holdfast::recipes
