#include "sim/checkers/lost_updates.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <string_view>

#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

struct WrittenValue {
  std::uint64_t value;
  std::size_t operation;

  friend auto operator<=>(const WrittenValue&, const WrittenValue&) = default;
};

/// All writes of a history, to be found by what they wrote.
class Writes {
 public:
  explicit Writes(const History& history) : history_{history} {
    writes_.reserve(history.operations.size());
    for (std::size_t i = 0; i < history.operations.size(); ++i) {
      const Operation& operation = history.operations[i];
      if (operation.verb == Verb::write) writes_.push_back({operation.value, i});
    }
    if (!std::is_sorted(writes_.begin(), writes_.end())) {
      std::sort(writes_.begin(), writes_.end());
    }
  }

  /// Index of the operation. Empty: nobody wrote this to the lock's register.
  std::optional<std::size_t> find(std::size_t lock, std::uint64_t value) const {
    const auto found = std::lower_bound(writes_.begin(), writes_.end(), WrittenValue{value, 0});
    if (found == writes_.end() || found->value != value) return std::nullopt;
    const Operation& operation = history_.operations[found->operation];
    if (history_.acquisitions[operation.acquisition].lock != lock) return std::nullopt;
    return found->operation;
  }

 private:
  const History& history_;
  std::vector<WrittenValue> writes_;
};

/// Where the way back ended before the first value.
struct Break {
  std::size_t lock;
  std::uint64_t value;
  std::string_view why;
};

/// The ways back from the final values.
struct Ways {
  /// For each operation, whether it is on one.
  std::vector<char> on_way;
  std::vector<Break> breaks;
};

std::vector<char> accepted_writes(const History& history) {
  std::vector<char> accepted(history.operations.size(), 0);
  for (const Served& served : history.served) {
    if (served.verdict == Verdict::accepted && served.verb == Verb::write) {
      accepted[served.operation] = 1;
    }
  }
  return accepted;
}

Ways ways_back(const History& history) {
  Ways ways;
  ways.on_way.resize(history.operations.size(), 0);
  const Writes writes{history};
  const std::vector<char> accepted = accepted_writes(history);
  for (std::size_t lock = 0; lock < history.final_values.size(); ++lock) {
    for (std::uint64_t value = history.final_values[lock]; value != 0;) {
      const std::optional<std::size_t> write = writes.find(lock, value);
      if (!write) {
        ways.breaks.push_back({lock, value, "nobody wrote"});
        break;
      }
      if (ways.on_way[*write] != 0) {
        ways.breaks.push_back({lock, value, "comes twice"});
        break;
      }
      if (accepted[*write] == 0) ways.breaks.push_back({lock, value, "was never accepted"});
      ways.on_way[*write] = 1;
      value = history.operations[*write].based_on;
    }
  }
  return ways;
}

bool is_lost(const Ways& ways, const History& history, std::size_t operation) {
  return history.operations[operation].verb == Verb::write &&
         history.operations[operation].outcome == Outcome::ok && ways.on_way[operation] == 0;
}

Violation lost_update(const History& history, const Operation& write) {
  const Acquisition& lease = history.acquisitions[write.acquisition];
  return {"G4",
          sentence("lock ",
                   lease.lock,
                   ": the write of ",
                   write.value,
                   " over ",
                   write.based_on,
                   " with ",
                   lease.token,
                   ", acknowledged at ",
                   write.returned_at,
                   ", is lost")};
}

}  // namespace

Violations check_lost_updates(const History& history) {
  Violations found;
  const Ways ways = ways_back(history);
  for (const Break& broken : ways.breaks) {
    found.push_back({"G4",
                     sentence("lock ",
                              broken.lock,
                              ": the value ",
                              broken.value,
                              ", on the way back from the final value ",
                              history.final_values[broken.lock],
                              ", ",
                              broken.why)});
  }
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    if (is_lost(ways, history, i)) found.push_back(lost_update(history, history.operations[i]));
  }
  return found;
}

std::size_t count_lost_updates(const History& history) {
  const Ways ways = ways_back(history);
  std::size_t count = 0;
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    if (is_lost(ways, history, i)) ++count;
  }
  return count;
}

}  // namespace holdfast::sim
