// The fence: whether a resource lets a token do something. Pure functions, the same for every
// store.
//
// A resource remembers the lock it belongs to and two marks: the highest exclusive token that
// opened it, and the highest of any mode. Every decision takes what is remembered and gives what is
// to be remembered from then on; the store makes the two one atomic step.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/result.h"
#include "holdfast/sequencer.h"
#include "holdfast/store_types.h"

namespace holdfast::core {

/// The identity of a lock across engines: engine identity and name in one string. A prefix of the
/// engine's URL is part of the name, so that the lock is the same with and without it.
std::string lock_domain(std::string_view engine_domain, std::string_view name);

/// Who asks.
struct Holder {
  /// lock_domain().
  std::string domain;
  Mode mode{Mode::exclusive};
  Token token{0};
  std::string owner_fp;
};

/// invalid_argument: a token of 0 or beyond 2^53 − 1, or a permit, which is not fenced.
Result<Holder, StoreError> to_holder(const Sequencer& sequencer);

/// One token that has opened a resource.
struct Mark {
  Token token{0};
  std::string owner_fp{};

  bool is(const Holder& holder) const {
    return token == holder.token && owner_fp == holder.owner_fp;
  }
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// What a resource remembers.
struct Fence {
  std::string domain{};
  WritePolicy policy{WritePolicy::many};
  /// The highest exclusive token opened.
  Mark exclusive{};
  /// The highest token of any mode opened.
  Mark any{};
  /// Of the last operation under the exclusive token; 0: none.
  std::uint64_t sequence{0};
  /// The last token that wrote.
  Token written{0};
  /// Of that token's last write.
  std::uint64_t written_sequence{0};

  friend bool operator==(const Fence&, const Fence&) = default;
};

/// Exact in JSON and in every engine's numbers, as tokens are.
inline constexpr std::uint64_t kSequenceMax = (std::uint64_t{1} << 53) - 1;

/// Whether the caller has opened the resource before. Then it must still know the caller: one that
/// was removed meanwhile does not let an old holder in as if it were new.
enum class Opened : std::uint8_t { before, not_yet };

/// `fence` is empty for a resource that belongs to no lock yet.
Result<Fence, StoreError> decide_open(const std::optional<Fence>& fence,
                                      const Holder& holder,
                                      const OpenOptions& options);

Result<Fence, StoreError> decide_read(const std::optional<Fence>& fence,
                                      const Holder& holder,
                                      Opened opened);

struct WriteRequest {
  Opened opened{Opened::not_yet};
  /// Empty: the next one.
  std::optional<std::uint64_t> sequence{};
  /// What is stored is what this operation would leave: it may be a repetition.
  bool leaves_the_same{false};
};

struct WriteDecision {
  Applied applied{Applied::applied};
  Fence fence{};
};

Result<WriteDecision, StoreError> decide_write(const std::optional<Fence>& fence,
                                               const Holder& holder,
                                               const WriteRequest& request);

/// What remains of a fence that an administrator moved to another lock.
Fence rebased(const Fence& fence, std::string_view domain);

}  // namespace holdfast::core
