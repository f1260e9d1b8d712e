// FencedRegister: the resource that locks guard, a value per lock behind the fence every store
// uses. It refuses stale tokens, and logs every operation in the order in which it served them.
//
// A token of 0 is of a protocol without tokens: nothing is refused then.
//
// Thread safety: none.

#pragma once

#include <optional>
#include <vector>

#include "core/fence.h"
#include "sim/world/history.h"

namespace holdfast::sim {

struct RegisterRequest {
  std::size_t lock{0};
  /// Index into History::operations.
  std::size_t operation{0};
  Verb verb{Verb::read};
  Token token{0};
  core::Opened opened{core::Opened::before};
  /// Names the holder: no two holders have the same.
  std::size_t holder{0};
  std::uint64_t sequence{0};
  /// Of a write.
  std::uint64_t value{0};
  std::uint64_t based_on{0};
};

struct RegisterAnswer {
  Verdict verdict{Verdict::accepted};
  /// Of a read: what was found.
  std::uint64_t value{0};
};

class FencedRegister {
 public:
  explicit FencedRegister(std::size_t locks) : cells_(locks) {}

  RegisterAnswer serve(const RegisterRequest& request, TimePoint now);

  std::uint64_t value(std::size_t lock) const { return cells_.at(lock).value; }
  const std::vector<Served>& log() const { return log_; }

 private:
  struct Cell {
    std::uint64_t value{0};
    std::optional<core::Fence> fence;
  };

  static Verdict judge(Cell& cell, const RegisterRequest& request);

  std::vector<Cell> cells_;
  std::vector<Served> log_;
};

}  // namespace holdfast::sim
