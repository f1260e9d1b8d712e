// LeaseFunctions: what the functions of the lease mode's schema do (engines/postgres/schema), one
// call each and each at once.
//
// The suite of tests/ports holds them to the functions of a real server.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/postgres/lease_tables.h"

namespace holdfast::sim {

/// Where the timeline is in a token.
inline constexpr int kTimelineShift = 40;

/// A mistake that functions may make, for mutants.
enum class Slip : std::uint8_t {
  none,
  /// A sequence with a cache: numbers come in another order than grants.
  tokens_cached,
  /// Tokens are the numbers of the sequence, in whatever timeline.
  timeline_forgotten,
  /// An owner that asks again gets another token.
  token_anew,
  /// A lock is given whoever holds it.
  holders_unseen,
  /// Leases that are over are taken for leases.
  expiry_unseen,
  /// Those who wait are taken to be there when their session has ended.
  absence_unseen,
  /// A release ends every lease of the name.
  release_any,
  /// A renewal brings back a lease that is over.
  renewal_revives,
  /// A renewal says that it extended, and does not.
  renewal_only_says,
  /// Who asks how much of its lease is left is told its whole TTL.
  whole_ttl_left,
};

/// What the functions need of the server.
class LeaseServer {
 public:
  virtual ~LeaseServer() = default;
  virtual WallTime now() const = 0;
  virtual std::uint64_t mint() = 0;
  /// Whether another session than the one that asks holds this number.
  virtual bool attended(Attendance session) const = 0;
  /// Told to whoever listens when the statement is over.
  virtual void notify(Attendance session, const std::string& payload) = 0;
  virtual Slip slip() const = 0;
};

/// What acquire answers.
struct LeaseReply {
  enum class Kind : std::uint8_t { granted, busy, queued, permits };
  Kind kind{Kind::busy};
  std::uint64_t token{0};
  /// Of the one who holds the lock, as `<token> <owner> <note>`.
  std::optional<std::string> holder{};
  /// In how many milliseconds that may change without a word.
  std::int64_t change{0};
  bool first{false};
};

enum class LeaseFate : std::uint8_t { renewed, gone, broken, failed_over };

/// Thread safety: none. Tables and server outlive it.
class LeaseFunctions {
 public:
  LeaseFunctions(LeaseTables& tables, LeaseServer& server)
      : tables_{tables}, server_{server}, now_{server.now()} {}

  enum class Wait : std::uint8_t { no, yes };
  LeaseReply acquire(const std::string& name, const LeaseAsk& ask, Wait wait);
  /// Null: it has none.
  const HolderRow* confirm(const std::string& name, std::string_view owner) const;
  /// Whether it held the lock, by `token` if that is given.
  bool release(const std::string& name, std::string_view owner, std::optional<std::uint64_t> token);
  /// Of `ask`, its owner, TTL and session count.
  LeaseFate renew(const std::string& name, const LeaseAsk& ask, std::uint64_t token);
  struct Broken {
    std::vector<HolderRow> leases{};
    /// Nobody held it, and a lock-delay kept it closed.
    bool only_closed{false};
  };
  Broken end_by_force(const std::string& name);
  /// What it has left; empty: it had none.
  std::optional<WallTime> extend(const std::string& name, std::string_view owner, WallTime ttl);

  /// Holders in order of tokens, with those whose lock-delay is not over, and those who wait and
  /// are there.
  LockRows inspect(const std::string& name) const;

  // As programs without Holdfast write them.
  bool plain_take(const std::string& name, const std::string& owner, WallTime ttl);
  bool plain_extend(const std::string& name, std::string_view owner, WallTime ttl);
  bool plain_release(const std::string& name, std::string_view owner);

  bool stands(const HolderRow& holder) const;
  /// What a lease that stands has left.
  WallTime left_of(const HolderRow& holder) const;
  WallTime now() const { return now_; }
  const LeaseTables& tables() const { return tables_; }

 private:
  /// Who holds a lock, summed up.
  struct Survey {
    std::size_t count{0};
    std::string claim{};
    std::optional<WallTime> closed_until{};
    std::optional<WallTime> changes_at{};
  };
  struct Handed {
    std::optional<std::uint64_t> mine{};
    /// Who is first of those who wait.
    std::optional<std::string> head{};
    Survey there{};
  };
  enum class News : std::uint8_t { no, yes };

  bool is_there(const WaiterRow& waiter) const;
  HolderRow* find(LockRows& lock, std::string_view owner) const;
  void sweep(LockRows& lock) const;
  Survey survey(const LockRows& lock) const;
  bool admits(const Survey& there, std::string_view claim) const;
  bool clashes(const LockRows& lock, const LeaseAsk& ask) const;
  std::int64_t change_of(const Survey& there) const;
  std::uint64_t enter(LockRows& lock, const LeaseAsk& ask);
  void stand(LockRows& lock, const LeaseAsk& ask) const;
  /// Gives the lock to those who may enter, and tells them, but for `asking`. News: who is first is
  /// told even if it was first before.
  Handed hand_over(LockRows& lock, std::string_view asking, News news);
  void tell(const LeaseAsk& whom, const std::string& words);
  LeaseReply refuse(const LockRows& lock, const LeaseAsk& ask, const Handed& handed) const;
  void forget(const std::string& name);

  LeaseTables& tables_;
  LeaseServer& server_;
  WallTime now_;
};

/// Whole milliseconds, rounded down.
std::int64_t whole_ms(WallTime time);

}  // namespace holdfast::sim
