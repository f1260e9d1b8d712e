// Histories by hand, for the tests of checkers. Times are milliseconds since the world began.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/world/history.h"

namespace holdfast::sim {

inline TimePoint at(std::int64_t ms) { return TimePoint{Millis{ms}}; }
inline Span span(std::int64_t begin_ms, std::int64_t end_ms) { return {at(begin_ms), at(end_ms)}; }

/// A grant to client 0 of lock 0, given up a millisecond before its deadline.
inline Acquisition grant(std::uint64_t token,
                         std::int64_t called_ms,
                         std::int64_t returned_ms,
                         std::int64_t deadline_ms) {
  Acquisition acquisition;
  acquisition.called_at = at(called_ms);
  acquisition.returned_at = at(returned_ms);
  acquisition.outcome = Outcome::ok;
  acquisition.token = Token{token};
  acquisition.deadline = at(deadline_ms);
  acquisition.release_called_at = at(deadline_ms - 1);
  return acquisition;
}

/// A request of client 0 for lock 0 that has no answer.
inline Acquisition waiting(std::int64_t called_ms, std::int64_t answer_by_ms) {
  Acquisition acquisition;
  acquisition.called_at = at(called_ms);
  acquisition.answer_by = at(answer_by_ms);
  return acquisition;
}

/// A request of client 0 for lock 0 that was answered in vain.
inline Acquisition denied(std::int64_t called_ms, std::int64_t returned_ms) {
  Acquisition acquisition;
  acquisition.called_at = at(called_ms);
  acquisition.returned_at = at(returned_ms);
  acquisition.outcome = Outcome::refused;
  return acquisition;
}

inline History history_of(std::vector<Acquisition> acquisitions) {
  History history;
  history.acquisitions = std::move(acquisitions);
  history.ended_at = at(1'000'000);
  return history;
}

/// Writes down what happens at the registers of a world in which everything goes well: each
/// operation is checked and sent at the time given, served 1 ms later, answered 2 ms later. Writes
/// are numbered.
class HistoryBuilder {
 public:
  /// Index of the acquisition.
  std::size_t add(const Acquisition& acquisition) {
    history_.acquisitions.push_back(acquisition);
    sequences_.push_back(0);
    return history_.acquisitions.size() - 1;
  }

  void open(std::size_t under, std::int64_t ms) { operate(under, Verb::open, ms, 0, 0); }
  void read(std::size_t under, std::int64_t ms) { operate(under, Verb::read, ms, value(under), 0); }
  void write(std::size_t under, std::int64_t ms, std::uint64_t written) {
    operate(under, Verb::write, ms, written, value(under));
    value(under) = written;
  }

  /// A write that the resource refuses.
  void stale_write(std::size_t under, std::int64_t ms, std::uint64_t written) {
    operate(under, Verb::write, ms, written, value(under));
    history_.operations.back().outcome = Outcome::refused;
    history_.served.back().verdict = Verdict::refused;
  }

  /// The last message to be served comes again.
  void repeat(std::int64_t ms) {
    Served again = history_.served.back();
    again.at = at(ms);
    history_.served.push_back(again);
  }

  void fault(const Fault& fault) { history_.faults.push_back(fault); }

  /// The history, of a world with `clients` clients that ended at `ended_ms`.
  History finish(std::size_t clients, std::int64_t ended_ms) {
    history_.pauses.resize(clients);
    history_.ended_at = at(ended_ms);
    return std::move(history_);
  }

 private:
  std::uint64_t& value(std::size_t under) {
    const std::size_t lock = history_.acquisitions[under].lock;
    if (lock >= history_.final_values.size()) history_.final_values.resize(lock + 1);
    return history_.final_values[lock];
  }

  void operate(
      std::size_t under, Verb verb, std::int64_t ms, std::uint64_t value, std::uint64_t based_on) {
    Operation operation;
    operation.acquisition = under;
    operation.verb = verb;
    operation.checked_at = at(ms);
    operation.sent_at = at(ms);
    operation.returned_at = at(ms + 2);
    operation.outcome = Outcome::ok;
    operation.value = value;
    operation.based_on = based_on;
    history_.operations.push_back(operation);
    const Acquisition& lease = history_.acquisitions[under];
    history_.served.push_back({.at = at(ms + 1),
                               .lock = lease.lock,
                               .operation = history_.operations.size() - 1,
                               .verb = verb,
                               .token = lease.token,
                               .sequence = verb == Verb::write ? ++sequences_[under] : 0,
                               .verdict = Verdict::accepted,
                               .value = value,
                               .based_on = based_on});
  }

  History history_;
  std::vector<std::uint64_t> sequences_;
};

/// Three critical sections of lock 0 one after the other, by clients 0, 1 and 2 with tokens 10, 20
/// and 30. They begin at 100, 200 and 300 ms and last 50 ms; each opens, reads and writes.
/// Acquisitions 0 to 2; operations 0 to 2, 3 to 5 and 6 to 8; the values written are 1, 2 and 3.
inline void add_three_sections(HistoryBuilder& builder) {
  for (std::size_t i = 0; i < 3; ++i) {
    const auto begin = static_cast<std::int64_t>(100 * (i + 1));
    Acquisition holder = grant(10 * (i + 1), begin - 10, begin, begin + 80);
    holder.client = i;
    holder.release_called_at = at(begin + 50);
    const std::size_t index = builder.add(holder);
    builder.open(index, begin + 5);
    builder.read(index, begin + 10);
    builder.write(index, begin + 20, i + 1);
  }
}

inline History three_sections() {
  HistoryBuilder builder;
  add_three_sections(builder);
  return builder.finish(3, 1000);
}

}  // namespace holdfast::sim
