// Leader election: of the candidates for a name, one leads at a time.
//
//     auto candidate = holdfast::Candidate::start(*client, "billing", {.value = "10.0.0.7:8080"},
//         {.on_elected = [](const holdfast::Leadership& term, std::stop_token stop) {
//           serve(term.epoch(), stop);
//         }});
//
// A candidate campaigns by queueing for the exclusive lock of that name: what is true of a lease
// is true of a leadership. The lease's token is the leader's epoch; send it with every write, so
// that a leader that was paused past its end is refused. What a candidate publishes travels with
// the lock and is known from the moment it leads.
//
// An election uses two names, NAME and NAME + ".next": the second one while a leadership is handed
// over. Every candidate of an election is in a process, or at least at a Client, of its own.
//
// Thread safety: every member but destructors and moves may be called from any thread.
// Lifetime: all of it keeps the client's core alive. After fork() the child's copies are void.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

#include "holdfast/client.h"
#include "holdfast/lease.h"
#include "holdfast/result.h"

namespace holdfast {

/// What a Candidate does when its term is over and nobody told it to stop.
enum class AfterTerm : std::uint8_t { campaign_again, retire };

/// Of one candidate. The views are copied at once.
struct CandidateOptions {
  /// What the others learn of the leader, such as its address: UTF-8 without control characters,
  /// up to 2048 bytes.
  std::string_view value{};
  /// Names the candidate to the others, as hand_over() needs it: 1 to 128 bytes of UTF-8 without
  /// control characters. Empty: one is made of host, process and chance.
  std::string_view id{};
  /// How long a leader that nobody hears of is waited for: 100 ms to 24 h.
  Millis ttl{10'000};
  /// The work is asked to stop so long before a lease that is not renewed ends; no longer than a
  /// third of its TTL.
  Millis grace{2'000};
  AfterTerm after_term = AfterTerm::campaign_again;
};

// Keeps `co_await async_campaign(client, name, {.value = …})` sound under g++ 12: see options.h.
static_assert(std::is_trivially_destructible_v<CandidateOptions>);

/// Who leads, as everybody may know.
struct Leader {
  /// Empty: the lock was taken by something else than a candidate.
  std::string id;
  std::string value;
  /// Rises with every leader of that name.
  Token epoch{0};
  std::string host;
  std::int64_t pid{0};
  /// Wall clock, milliseconds since 1970: since when it holds the lock, or has asked for it.
  std::int64_t since_ms{0};
};

/// Implemented by Holdfast; not for use by programs.
class Term;

/// The right to act as leader, until its lease ends or it steps down.
class [[nodiscard]] Leadership {
 public:
  explicit Leadership(std::shared_ptr<Term> term);
  /// Steps down, as the destructor of a Lease releases.
  ~Leadership();
  Leadership(Leadership&&) noexcept = default;
  Leadership& operator=(Leadership&& other) noexcept;
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  const std::string& id() const;
  /// The token of its lease.
  Token epoch() const;
  /// To open a resource of a store with, and to ask whether it still stands.
  const Lease& lease() const;

  /// Stop is requested when the work has to end: `grace` before the lease ends unless that is
  /// renewed, when it is lost, and by request_stop(). The leadership may then still stand, and
  /// stands until the work has ended if that takes no longer than `grace`.
  std::stop_token stop_token() const;
  void request_stop();

  /// Gives the leadership up; the next in the queue leads. Stop the work first. Idempotent.
  ReleaseOutcome step_down();
  /// As step_down(), without blocking. The callback must not block.
  void async_step_down(std::function<void(ReleaseOutcome)> callback);

  /// Gives the leadership up for one candidate. Stop the work first.
  ///
  /// While the named one waits in the queue, the others that are granted the lock before it give it
  /// back, for `patience` at most: a candidate that died is waited for no longer. Nobody leads
  /// meanwhile, and two never do. Foreign programs that take the lock know nothing of this.
  ///
  /// not_found: no such candidate waits, and this one leads on. timeout: another one leads, or
  /// nobody yet; this one does not any more. Otherwise as Client::acquire.
  Result<void> hand_over(std::string_view id, Millis patience = Millis{10'000});
  /// As hand_over(), without blocking. The callback must not block.
  void async_hand_over(std::string_view id,
                       Millis patience,
                       std::function<void(Result<void>)> callback);

 private:
  std::shared_ptr<Term> term_;
};

/// Queues until it leads. Errors as Client::acquire, and invalid_argument for the options.
Result<Leadership, AcquireError> campaign(const Client& client,
                                          std::string_view name,
                                          const CandidateOptions& options = {},
                                          std::stop_token stop = {});

/// As campaign(), without blocking. The callback runs once, on a thread of the engine's or before
/// this returns; it must not block. holdfast/async_election.h has this for completion tokens.
void async_campaign(const Client& client,
                    std::string_view name,
                    const CandidateOptions& options,
                    std::stop_token stop,
                    std::function<void(Result<Leadership, AcquireError>)> callback);

/// Who leads now. Empty: nobody. Errors as Client::inspect.
Result<std::optional<Leader>> find_leader(const Client& client, std::string_view name);

/// Tells who leads, whenever that changes.
///
/// Changes are pushed where the engine can: by etcd and ZooKeeper themselves, on one machine by the
/// kernel, at Redis, Redlock and PostgreSQL by candidates that begin or end to lead, and a look
/// every second tells what they did not say. Behind a pooler of PostgreSQL, unless the URL names
/// the server itself by listen=, it looks every 200 milliseconds. Several changes in a row may be
/// told as one.
class LeaderWatch {
 public:
  /// Errors: invalid_argument for the name.
  static Result<LeaderWatch> start(const Client& client, std::string_view name);
  /// Cancels next().
  ~LeaderWatch();
  LeaderWatch(LeaderWatch&&) noexcept;
  LeaderWatch& operator=(LeaderWatch&&) noexcept;

  /// Waits until it is another leader than told before; the first time, answers at once. Empty:
  /// nobody leads. One call at a time.
  ///
  /// cancelled: `stop` was requested. unavailable: the engine did not answer; call it again.
  Result<std::optional<Leader>> next(std::stop_token stop = {});
  /// As next(), without blocking. The callback must not block.
  void async_next(std::stop_token stop,
                  std::function<void(Result<std::optional<Leader>>)> callback);

 private:
  struct Shared;
  explicit LeaderWatch(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
};

/// Campaigns, works while it leads, and campaigns again, on a thread of its own.
class Candidate {
 public:
  struct Callbacks {
    /// The leader's work: runs while it leads, on the candidate's thread. It has to return soon
    /// after `stop` is requested, and within the `grace` of the options; when it returns, the
    /// candidate steps down. Required.
    std::function<void(const Leadership& term, std::stop_token stop)> on_elected{};
    /// The leadership was lost: called at once, on a thread of Holdfast's own, while the work may
    /// still be about to return.
    std::function<void(LossReason reason)> on_lost{};
    /// A campaign failed, and begins again after a while; on the candidate's thread.
    std::function<void(const Error& error)> on_error{};
  };

  /// invalid_argument: the name, the options or no on_elected; then nothing was started.
  static Result<Candidate> start(const Client& client,
                                 std::string_view name,
                                 const CandidateOptions& options,
                                 Callbacks callbacks);
  /// Leaves the queue; when it leads, asks the work to stop, waits for it and steps down. Not to be
  /// called by one of its callbacks.
  ~Candidate();
  Candidate(Candidate&&) noexcept;
  Candidate& operator=(Candidate&& other) noexcept;

  const std::string& id() const;
  bool leads() const;

  /// Asks the work to stop, without waiting for that. Without effect unless it leads.
  void step_down();

  /// Asks the work to stop, waits for that, and hands over as Leadership::hand_over() does. Not to
  /// be called by one of its callbacks.
  /// lost: it does not lead. in_progress: another call hands it over.
  Result<void> hand_over(std::string_view id, Millis patience = Millis{10'000});

 private:
  class Loop;
  explicit Candidate(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace holdfast
