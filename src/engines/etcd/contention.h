// Contention: one request for a lock, from entering the queue to holding the lock or leaving.
//
// The place in the queue is a key. An unanswered request to put it there is settled under the same
// key. While others are ahead, nothing is asked: news of the last of them that has to go, or of the
// end of the own place, leads to one transaction that looks at both. A place whose lease or key is
// gone is taken anew, at the end of the queue.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <stop_token>

#include "base/alarm.h"
#include "core/lease_engine.h"
#include "engines/etcd/contenders.h"
#include "engines/etcd/etcd_parts.h"

namespace holdfast::etcd {

class Contention : public std::enable_shared_from_this<Contention> {
 public:
  Contention(std::shared_ptr<Parts> parts, core::LockRequest request);

  /// Contends until `wait_until` or `stop`. Failures as core::LeaseEngine::acquire(), without the
  /// holder. What was taken is given back: before it answers busy, timeout or cancelled if it can,
  /// otherwise in the background.
  Task<Result<Own, AcquireError>> run(TimePoint wait_until, std::stop_token stop);

  /// Who was in the way of it so far.
  core::Met met() const { return met_; }

  /// The session is over: is it the one this relies on?
  void hear_of_end(const std::shared_ptr<Session>& session);

 private:
  enum class Step : std::uint8_t { known, again };

  Task<Result<void>> ask(std::stop_token stop, TimePoint last_word);
  Task<Result<Step>> ask_once(TimePoint answer_by);
  Step take_in(const Seen& seen, Revision revision);
  Task<void> wait_for_turn(TimePoint wait_until, std::stop_token stop);
  void listen(Revision since);
  void hear(const KeyNews& news);
  void look_again();

  Task<Result<Own, AcquireError>> won();
  Task<AcquireError> leave(AcquireError why, TimePoint answer_by);
  AcquireError give_up(Error why);

  Entrant entrant() const;

  std::shared_ptr<Parts> parts_;
  core::LockRequest request_;
  Own own_;
  Standing standing_{};
  core::Met met_{core::Met::nobody};
  KeyWatches::Listening listening_{};
  bool look_{false};
  Alarm changed_;
};

}  // namespace holdfast::etcd
