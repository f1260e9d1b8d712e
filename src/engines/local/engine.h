// The local engine: named locks in a file shared by every process on this machine.
//
// The protocol only, on the calling thread: it takes, looks at, renews and gives up contenders, and
// never blocks on another process. Leases, callbacks and waiting are local_backend.h's.
//
// Thread safety: any thread of this process.
// Lifetime: tickets and sessions must not be used after the engine is gone.

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/local/futex.h"
#include "engines/local/membership.h"
#include "engines/local/name_index.h"
#include "engines/local/queue.h"
#include "engines/local/record_pool.h"
#include "engines/local/session_book.h"
#include "engines/local/state_file.h"
#include "engines/local/token_mint.h"
#include "holdfast/client.h"

namespace holdfast::local {

struct Request {
  core::Claim claim{};
  LeaseKind kind{LeaseKind::session};
  Millis ttl{0};
  Millis lock_delay{0};
  std::string_view label{};
  std::string_view trace_id{};
  /// Woken through the member's mail instead of a thread of its own.
  bool by_mail{false};
};

/// A contender of this process's.
struct Ticket {
  Ref contender{0};
  Place place{};
  Ref slot{0};
  SessionEntry* session_entry{nullptr};
  Ref session{0};
  Token token{0};
  Owner owner{{}};
  LeaseKind kind{LeaseKind::session};
  /// Nobody was ahead when it entered.
  bool first{false};
};

/// Where a contender stands, and what a waiter should watch to learn of a change.
struct Standing {
  enum class State : std::uint8_t {
    granted,
    waiting,
    /// Somebody ahead asked for another number of permits.
    permits_differ,
    /// Marked out of the queue: its session ended while it waited, or it was broken.
    out,
  };

  State state{State::waiting};
  /// The futexes of those in the way, in other processes.
  std::array<FutexWait, kFutexWaitsMax - 1> lives{};
  std::size_t lives_count{0};
  /// When to look again even if nothing is heard.
  TimePoint look_again{kNever};
  /// Somebody in the way, for error messages.
  Ref in_the_way{0};
};

class Engine {
 public:
  /// Errors as StateFile::open and Membership::join.
  static Result<std::unique_ptr<Engine>> open(const std::string& directory);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Enters the queue of a lock. `now` is a reading of the boot clock from before the call.
  /// no_space, io_error: nothing has happened.
  Result<Ticket> enter(std::string_view name, const Request& request, TimePoint now);

  /// Takes the lock if nobody is ahead and the session still stands: the whole of an uncontended
  /// acquire. False: look() says what is in the way.
  bool take_if_first(Ticket& ticket);

  /// Where the ticket stands. Contenders ahead that are over are taken out.
  Standing look(const Ticket& ticket, TimePoint now);

  /// Makes a granted ticket a holder. False: its session ended meanwhile; leave and enter anew.
  bool confirm(Ticket& ticket, TimePoint now);

  /// Leaves the queue, as holder or waiter. Returns Mark::left, or the mark it had been given.
  Mark leave(const Ticket& ticket);

  /// Gives a holder up that has lost its lease: for others it has vanished, lock-delay and all.
  void vanish(const Ticket& ticket);

  /// The mark on the ticket: none while it is in the queue.
  Mark mark_of(const Ticket& ticket);

  /// Until when the ticket's lease stands if nothing renews it, without allowance for drift; the
  /// beginning of time if it has ended.
  TimePoint deadline(const Ticket& ticket);

  /// Extends the session, or the detached lease, to its TTL from `now`.
  Renewal renew(const Ticket& ticket, TimePoint now);

  /// The same for a detached lease known by name and owner; the result is the new deadline.
  /// lost: it has ended or was never there.
  Result<TimePoint> renew_detached(std::string_view name,
                                   const Owner& owner,
                                   Millis ttl,
                                   TimePoint now);
  Result<ReleaseOutcome> release_detached(std::string_view name, const Owner& owner);

  LockInfo inspect(std::string_view name, TimePoint now);
  std::vector<LockInfo> list(std::string_view prefix, TimePoint now);

  /// Marks every holder as broken; returns them as they were.
  std::vector<holdfast::Contender> break_holders(std::string_view name, TimePoint now);

  std::optional<holdfast::Contender> describe(Ref contender, TimePoint now);

  /// Takes out of a slot's queue what is over, and wakes who may go on.
  Queue::Walk sweep(Ref slot, TimePoint now);

  /// Tidies up after dead processes. On the chores' thread only.
  void bury_the_dead(TimePoint now);

  /// Makes a waiter look again whose turn may have come without anybody telling it.
  void recheck(Ref contender, TimePoint now);

  /// Tells watchers, if there are any.
  void announce_change(TimePoint now) {
    const std::int64_t until = header().watched_until_ns.load(std::memory_order_relaxed);
    if (until >= to_ns(now)) [[unlikely]] {
      tell_watchers();
    }
  }
  void keep_watching(TimePoint until);

  void poke(Ref contender) { queue_.poke(contender); }
  std::atomic<std::uint32_t>& signal_of(const Ticket& ticket) {
    return file_->at<Contender>(ticket.contender).signal;
  }
  Header& header() { return file_->header(); }
  StateFile& file() { return *file_; }
  Membership& membership() { return *membership_; }
  SessionBook& sessions() { return *sessions_; }
  TokenMint& mint() { return *mint_; }
  /// Engine identity: `local:` and 32 hexadecimal digits.
  std::string domain();

 private:
  enum class Liveness : std::uint8_t { live, over, delayed };
  struct Life {
    Liveness liveness{Liveness::live};
    /// When it ends, if nothing renews it.
    TimePoint ends{};
  };
  /// The contenders of a walk that are still there, oldest first.
  struct Assessment {
    struct Entry {
      Seen seen;
      bool holds{false};
      TimePoint ends{};
    };
    std::vector<Entry> there;
    core::Ahead sum;
    /// Everybody there holds: whoever comes behind is next.
    bool all_hold{true};
    TimePoint first_end{kNever};
    /// Somebody was taken out, or was not what the walk had met: walk again.
    bool outdated{false};
  };

  explicit Engine(std::unique_ptr<StateFile> file);

  void tell_watchers();
  Result<void> enter_as(Ticket& ticket,
                        std::string_view name,
                        const Request& request,
                        TimePoint now);
  Result<Ref> take_record(const Request& request);
  void fill_record(
      Ref record, const Request& request, Ref session, const Owner& owner, TimePoint now);
  void discard_record(Ref record, LeaseKind kind);
  Life life_of(const Seen& seen, TimePoint now);
  Life life_of_holder(const Seen& seen, TimePoint now);
  Assessment assess(const std::vector<Seen>& seen, TimePoint now);
  void wake_next(Ref slot, Ref contender, Place place, TimePoint now);
  void wake_oldest_waiter(Ref slot, TimePoint now);
  LockInfo describe_queue(Ref slot, const std::string& name, TimePoint now);
  std::optional<Seen> find_detached(std::string_view name, const Owner& owner, Ref& slot);
  bool clear_member(Ref member, TimePoint now);
  bool clear_contender(Contender& contender, TimePoint now);

  std::unique_ptr<StateFile> file_;
  Queue queue_;
  NameIndex index_;
  std::unique_ptr<Membership> membership_;
  std::unique_ptr<RecordPool> records_;
  std::unique_ptr<SessionBook> sessions_;
  std::unique_ptr<TokenMint> mint_;
};

}  // namespace holdfast::local
