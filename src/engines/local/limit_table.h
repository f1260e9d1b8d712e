// LimitTable: taking permits in a LimitFile.
//
// A key has a slot only while it is ahead; a slot whose time has come is free for any key. Looking
// and taking need no lock and leave nothing half done: a process may be killed at any instruction.
//
// Thread safety: any thread, any process.

#pragma once

#include <memory>
#include <string_view>

#include "core/gcra.h"
#include "engines/local/limit_file.h"

namespace holdfast::local {

class LimitTable {
 public:
  explicit LimitTable(std::unique_ptr<LimitFile> file) : file_{std::move(file)} {}

  /// One step, without a system call. no_space: more keys are ahead at once than the table has room
  /// for; of 262144 slots, a key looks at 32.
  Result<RateDecision> reserve(std::string_view key, const core::Take& take, TimePoint now);

 private:
  /// How many buckets a key may be in.
  static constexpr std::uint64_t kReach = 8;

  struct Found {
    LimitSlot* slot{nullptr};
    LimitSlot seen{};
  };
  struct Search {
    Found match{};
    /// Where the key could be put.
    Found room{};
  };

  Search search(std::uint64_t key, std::uint64_t now);
  /// Whether the key has come into another slot at the same moment.
  bool is_twice(std::uint64_t key, std::uint64_t now, const LimitSlot* mine);

  std::unique_ptr<LimitFile> file_;
};

}  // namespace holdfast::local
