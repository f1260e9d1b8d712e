// Contention: one request for a lock, from entering the queue to holding the lock or leaving.
//
// The place in the queue is a node. To enter, it is created and the queue looked at in one round
// trip. An unanswered creation is settled by the node's id. While others are ahead, nothing is
// asked: news of the last of them that has to go leads to one look at the queue. A place whose
// session or node is gone is taken anew, at the end of the queue.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/alarm.h"
#include "core/lease_engine.h"
#include "engines/zookeeper/zookeeper_parts.h"

namespace holdfast::zookeeper {

class Contention : public std::enable_shared_from_this<Contention> {
 public:
  Contention(std::shared_ptr<Parts> parts, core::LockRequest request, std::string lock);

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
  struct Both;

  Task<Result<void>> ask(std::stop_token stop, TimePoint last_word);
  Task<void> fall_out_of_step(TimePoint began);
  Task<Result<Step>> ask_once(TimePoint answer_by);
  Task<Result<Step>> enter(TimePoint answer_by);
  Task<Result<Step>> look(TimePoint answer_by);
  Task<Result<Step>> settle(TimePoint answer_by);
  Result<Step> failed(const Error& error);
  Task<Result<Step>> take_in(std::vector<std::string> children, TimePoint answer_by);
  Task<Result<std::vector<Child>>> by_creation(std::vector<Child> children, TimePoint answer_by);
  void begin_anew();

  Task<void> wait_for_turn(TimePoint wait_until, std::stop_token stop);
  void listen();
  void watch(const std::string& path);
  void hear(const std::string& path, SessionLine::Change change);
  void depart(const std::string& path);
  void look_again();

  Task<Result<Own, AcquireError>> won();
  Task<AcquireError> leave(AcquireError why, TimePoint answer_by);
  AcquireError give_up(Error why);

  SharedRequest create_request() const;

  std::shared_ptr<Parts> parts_;
  core::LockRequest request_;
  Own own_;
  Standing standing_{};
  core::Met met_{core::Met::nobody};
  std::vector<SessionLine::Listening> listening_{};
  bool waits_{false};
  bool look_{false};
  Alarm changed_;
};

}  // namespace holdfast::zookeeper
