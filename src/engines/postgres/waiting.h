// Waiting: this process's places in the queues of one server.
//
// While the ear hears, a place is kept by its session and costs nothing: the server says who has
// become the first and who is given the lock. Its lease counts from the last request that found the
// lock taken; if that is long ago, the server is asked what is left of it. Who is first looks again
// when the holder's lease may have ended; everybody does once in a TTL, in case the first has died
// together with the holder. Without an ear a place is kept by asking again, a third of the TTL
// after the last time, and who is first does so every quarter of a second. All who look at one
// moment do it in one statement.
//
// Thread safety: as Env. Lifetime: the Env outlives it; requests under way keep it alive.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alarm.h"
#include "core/queued_engine.h"
#include "engines/postgres/lease_answers.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

class Waiting : public std::enable_shared_from_this<Waiting> {
 public:
  using Session = std::optional<std::int64_t>;
  struct Settings {
    std::string prefix;
    /// How long a request waits for its answer.
    Millis timeout;
    /// The ear's, now.
    std::function<Session()> session;
    /// Called when one that has left has the lock, or a place, all the same.
    std::function<void(const core::LockRequest&)> on_stray;
  };

  Waiting(Env& env, std::shared_ptr<PostgresPort> port, Settings settings);

  /// The place is kept, and notices reach it, until it leaves.
  void enter(std::shared_ptr<core::Waiter> waiter);
  void leave(core::Waiter& waiter);

  /// A request of a waiter's: when it left, and the session it gave.
  struct Request {
    TimePoint sent_at;
    Session session;
  };
  /// What one that leaves now gives.
  Request request_now() const { return {env_.now(), settings_.session()}; }

  /// Takes in an answer to a request of the waiter's. One that gave another session than there is
  /// now may have overtaken the one that gave this: the place is given anew.
  void note(core::Waiter& waiter, const core::Asked& answer, const Request& by);

  /// granted or first.
  void hear(const Notice& notice);

  /// The ear hears now, or does not any more: every place is given anew.
  void attended_anew();

 private:
  struct Entry {
    std::shared_ptr<core::Waiter> waiter;
    /// When the last request left that keeps the place.
    TimePoint asked_at;
    core::Standing standing{core::Standing::none};
    /// When the lock may come free without a word.
    TimePoint change_at{TimePoint::max()};
    /// When the last request left that found one holder, and that one's token: whoever is granted
    /// the lock by a higher one was so later.
    TimePoint queued_at{TimePoint::min()};
    Token behind{0};
    /// When it was last told to be the first.
    TimePoint told_at{TimePoint::min()};
    /// When it was last seen that the place may be that of a session which nobody hears.
    TimePoint misplaced_at{TimePoint::min()};

    const core::LockRequest& request() const { return waiter->request; }
  };
  using Entries = std::vector<std::shared_ptr<Entry>>;
  struct Gone {
    core::LockRequest request;
    /// With what it left. Empty: without the lock.
    std::optional<Token> token;

    const Owner& owner() const { return request.owner; }
  };

  std::shared_ptr<Entry> find(const Owner& owner) const;
  TimePoint look_at(const Entry& entry) const;
  void look_by(const Entry& entry);
  void take_in_granted(const std::shared_ptr<Entry>& entry, Token token);
  void confirm(const std::shared_ptr<Entry>& entry);
  /// Somebody who left is said to have the lock: gives it back unless it is the one that it had.
  void doubt(const Gone& gone);
  void ask_for_lease(const core::LockRequest& request, OnAnswer on_answer);
  void take_in_confirmed(core::Waiter& waiter, Result<Answer> answer, TimePoint sent_at) const;
  void refresh(const Entries& entries);
  void refresh_together(Entries entries);
  void take_in(const Entries& entries, const Result<Rows>& rows, const Request& by);
  Entries due(TimePoint now) const;
  static Task<void> keep_looking(std::shared_ptr<Waiting> self);

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  Settings settings_;
  /// By owner, which is how notices name them.
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
  /// The last who left. Should one of them be given the lock, or once more, by a request that came
  /// late, it goes back at once.
  std::deque<Gone> left_;
  bool looking_{false};
  TimePoint next_look_{};
  Alarm changed_;
};

}  // namespace holdfast::postgres
