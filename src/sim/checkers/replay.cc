#include "sim/checkers/replay.h"

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

struct Replayed {
  std::uint64_t value{0};
  TimePoint at{TimePoint::min()};
};

/// Whether this is why the caller has its answer.
bool explains(const Served& served, const Operation& operation) {
  const Outcome answer = served.verdict == Verdict::accepted ? Outcome::ok : Outcome::refused;
  if (operation.outcome != answer) return false;
  if (served.at < operation.sent_at || operation.returned_at < served.at) return false;
  return answer == Outcome::refused || operation.verb != Verb::read ||
         served.value == operation.value;
}

/// An operation that never left was refused by its caller's own lease.
bool needs_explaining(const Operation& operation) {
  return operation.outcome == Outcome::ok ||
         (operation.outcome == Outcome::refused && operation.sent_at != kNever);
}

void replay_step(Replayed& state, const Served& served, Violations& found) {
  if (served.at < state.at) {
    found.push_back({"G3",
                     sentence("lock ",
                              served.lock,
                              ": the log has what was served at ",
                              served.at,
                              " after what was served at ",
                              state.at)});
  }
  state.at = served.at;
  if (served.verdict != Verdict::accepted) return;
  if (served.verb == Verb::write) state.value = served.value;
  if (served.verb != Verb::read || served.value == state.value) return;
  found.push_back({"G3",
                   sentence("lock ",
                            served.lock,
                            ": a read with ",
                            served.token,
                            " found ",
                            served.value,
                            " at ",
                            served.at,
                            ", though the register was ",
                            state.value)});
}

Violation unexplained(const Operation& operation, const Acquisition& lease) {
  constexpr std::string_view kVerbs[]{"open", "read of ", "write of "};
  return {"G3",
          sentence("lock ",
                   lease.lock,
                   ": the ",
                   kVerbs[static_cast<std::size_t>(operation.verb)],
                   operation.verb == Verb::open ? std::string{} : in_words(operation.value),
                   " with ",
                   lease.token,
                   ", sent at ",
                   operation.sent_at,
                   operation.outcome == Outcome::ok ? " and acknowledged at " : " and refused at ",
                   operation.returned_at,
                   ", is not so in the log between the two")};
}

}  // namespace

Violations check_replay(const History& history) {
  Violations found;
  std::vector<Replayed> registers;
  std::vector<char> explained(history.operations.size(), 0);
  for (const Served& served : history.served) {
    replay_step(state_of(registers, served.lock), served, found);
    if (explains(served, history.operations[served.operation])) explained[served.operation] = 1;
  }
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Operation& operation = history.operations[i];
    if (explained[i] != 0 || !needs_explaining(operation)) continue;
    found.push_back(unexplained(operation, history.acquisitions[operation.acquisition]));
  }
  return found;
}

}  // namespace holdfast::sim
