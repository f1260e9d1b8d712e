// What happened in a world, for checkers to judge. All times are true time, which nobody in the
// world can read.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/error.h"
#include "holdfast/lease.h"
#include "holdfast/token.h"
#include "sim/faults/fault_class.h"

namespace holdfast::sim {

/// A stretch of time: from `begin` up to, not including, `end`.
struct Span {
  TimePoint begin;
  TimePoint end;

  bool contains(TimePoint time) const { return begin <= time && time < end; }
  bool overlaps(const Span& other) const { return begin < other.end && other.begin < end; }
};

/// That it has not happened.
inline constexpr TimePoint kNever = TimePoint::max();

enum class Outcome : std::uint8_t {
  /// The call has not returned: the process died in it, or it hangs.
  none,
  ok,
  refused,
  /// No answer in time: it may have happened, or may still happen.
  unknown,
};

/// One request for a lock in the life of a task, and what came of it.
struct Acquisition {
  std::size_t client{0};
  /// Rises each time the process starts again.
  std::uint32_t incarnation{0};
  std::size_t lock{0};
  TimePoint called_at{};
  /// When the caller wanted its answer at the latest.
  TimePoint answer_by{kNever};
  TimePoint returned_at{kNever};
  Outcome outcome{Outcome::none};

  // What follows is of a grant.
  /// 0: the protocol has no tokens.
  Token token{0};
  Owner owner{Owner::Bytes{}};
  /// The end of the lease after its last renewal, when the world ended or the lease did.
  TimePoint deadline{};
  TimePoint release_called_at{kNever};
  /// When the caller wanted to be done with it at the latest.
  TimePoint release_by{kNever};
  TimePoint release_returned_at{kNever};
  /// When the process died, if it held the lease then.
  TimePoint crashed_at{kNever};
  /// When the holder heard of its loss, and why. LossReason::none: it was not lost.
  TimePoint loss_heard_at{kNever};
  LossReason loss{LossReason::none};

  bool granted() const { return outcome == Outcome::ok; }
  /// While the caller may believe that it holds the lock.
  Span held() const;
};

enum class Verb : std::uint8_t { open, read, write };

constexpr std::string_view to_string(Verb verb) {
  return verb == Verb::open ? "open" : verb == Verb::read ? "read" : "write";
}

/// One operation on the resource that a lock guards, as its caller saw it.
struct Operation {
  /// Index into History::acquisitions: under which grant.
  std::size_t acquisition{0};
  Verb verb{Verb::read};
  /// When the caller looked at its lease and found it good.
  TimePoint checked_at{};
  /// When the request left: any pause may lie between.
  TimePoint sent_at{kNever};
  TimePoint returned_at{kNever};
  Outcome outcome{Outcome::none};
  /// Identifies a write: unique in a world. Of a read: what was found. 0: the first value.
  std::uint64_t value{0};
  /// Of a write: the value its caller had read before.
  std::uint64_t based_on{0};
};

enum class Verdict : std::uint8_t { accepted, refused };

/// One operation as the resource served it. The resource's log is their order.
struct Served {
  TimePoint at{};
  std::size_t lock{0};
  /// Index into History::operations. A repeated message is served again under the same index.
  std::size_t operation{0};
  Verb verb{Verb::read};
  Token token{0};
  /// Of the operation within its token, as the caller numbered it.
  std::uint64_t sequence{0};
  Verdict verdict{Verdict::accepted};
  /// As in Operation.
  std::uint64_t value{0};
  std::uint64_t based_on{0};
};

/// What a lock server did about an owner. Times are those of the server's wall clock.
struct NodeStep {
  enum class Kind : std::uint8_t { granted, removed };

  std::size_t node{0};
  Kind kind{Kind::granted};
  std::size_t lock{0};
  std::string owner;
  Token grant{0};
  Duration at{};
  /// When the grant ends unless renewed.
  Duration until{};
  /// Rises each time the server loses data or has its clock stepped.
  std::uint32_t era{0};
};

/// One fault as it was inflicted.
struct Fault {
  FaultClass kind{};
  Span when{};
  /// Which client or node.
  std::size_t whom{0};
};

struct History {
  std::vector<Acquisition> acquisitions;
  std::vector<Operation> operations;
  std::vector<Served> served;
  std::vector<NodeStep> node_steps;
  std::vector<Fault> faults;
  /// Those that may break exclusion beside what may_break_exclusion() says.
  FaultSet may_break{};
  /// For each client, when it did not run. In order and apart.
  std::vector<std::vector<Span>> pauses;
  /// What each lock's register showed at the end.
  std::vector<std::uint64_t> final_values;
  /// From when on there were no faults any more; kNever: the world ended before.
  TimePoint healed_at{kNever};
  /// Whether every task had ended when it did.
  bool idle{true};
  TimePoint ended_at{};
};

/// A broken promise.
struct Violation {
  /// "T1", "L2", "waiter", …
  std::string checker;
  std::string what;
};

using Violations = std::vector<Violation>;

}  // namespace holdfast::sim
