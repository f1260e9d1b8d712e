#include "core/fence.h"

#include <utility>

#include "base/invalid.h"
#include "base/percent.h"
#include "core/limits.h"

namespace holdfast::core {
namespace {

std::string text(Token token) { return std::to_string(token.value()); }

Unexpected<StoreError> stale(const Holder& holder, Token highest, std::string message) {
  StoreError error{Errc::stale_token, std::move(message)};
  error.yours = holder.token;
  error.highest = highest;
  return Unexpected{std::move(error)};
}

Unexpected<StoreError> overtaken(const Holder& holder, Token highest) {
  return stale(holder,
               highest,
               "token " + text(holder.token) + " is stale: the resource has seen " + text(highest));
}

Unexpected<StoreError> another_owner(const Holder& holder) {
  return stale(holder, holder.token, "token " + text(holder.token) + " belongs to another owner");
}

Unexpected<Error> another_mode(const Holder& holder) {
  return invalid("token " + text(holder.token) + " opened the resource in another mode",
                 "use the mode the lock was taken with");
}

Unexpected<StoreError> wrong_domain(const Fence& fence, const Holder& holder) {
  return Unexpected{
      StoreError{Errc::wrong_domain,
                 "the resource belongs to the lock " + fence.domain + ", not to " + holder.domain,
                 "use that lock, or move the resource with `holdfast store rebase`"}};
}

Unexpected<StoreError> forgotten(const Holder& holder) {
  StoreError error{Errc::stale_token,
                   "the resource no longer knows token " + text(holder.token) +
                       ": it was removed since it was opened"};
  error.yours = holder.token;
  return Unexpected{std::move(error)};
}

Result<Fence, StoreError> open_exclusive(Fence fence, const Holder& holder) {
  if (holder.token < fence.any.token) return overtaken(holder, fence.any.token);
  if (holder.token == fence.any.token) {
    if (!fence.any.is(holder)) return another_owner(holder);
    if (!fence.exclusive.is(holder)) return another_mode(holder);
    return fence;
  }
  fence.exclusive = {holder.token, holder.owner_fp};
  fence.any = fence.exclusive;
  fence.sequence = 0;
  return fence;
}

Result<Fence, StoreError> open_shared(Fence fence, const Holder& holder) {
  if (holder.token < fence.exclusive.token) return overtaken(holder, fence.exclusive.token);
  if (holder.token == fence.exclusive.token) {
    if (!fence.exclusive.is(holder)) return another_owner(holder);
    return another_mode(holder);
  }
  if (holder.token == fence.any.token && !fence.any.is(holder)) return another_owner(holder);
  if (holder.token > fence.any.token) fence.any = {holder.token, holder.owner_fp};
  return fence;
}

/// Whether the token is registered such that it may read. An older shared token cannot be told
/// from one that never opened: the resource remembers the newest only, and reading harms nobody.
bool may_read(const Fence& fence, const Holder& holder) {
  if (holder.mode == Mode::exclusive) return fence.exclusive.is(holder);
  return fence.any.is(holder) ||
         (holder.token > fence.exclusive.token && holder.token < fence.any.token);
}

Result<WriteDecision, StoreError> next_operation(Fence fence,
                                                 const Holder& holder,
                                                 const WriteRequest& request) {
  const std::uint64_t sequence = request.sequence.value_or(fence.sequence + 1);
  if (sequence > kSequenceMax) {
    return invalid("sequence " + std::to_string(sequence) + " is out of range",
                   "number operations 1, 2, 3 and so on, up to 2^53 - 1");
  }
  if (sequence == fence.sequence) {
    if (request.leaves_the_same) return WriteDecision{Applied::duplicate, std::move(fence)};
    return invalid("sequence " + std::to_string(sequence) + " was another operation",
                   "repeat that operation exactly, or use the next sequence number");
  }
  if (sequence < fence.sequence) {
    return stale(holder,
                 fence.exclusive.token,
                 "sequence " + std::to_string(sequence) + " is older than " +
                     std::to_string(fence.sequence) + ", the last one done under token " +
                     text(holder.token));
  }
  if (fence.policy == WritePolicy::strict && fence.written == holder.token) {
    return stale(holder,
                 fence.written,
                 "token " + text(holder.token) +
                     " has written already, and the resource allows one write per token");
  }
  fence.sequence = sequence;
  fence.written = holder.token;
  fence.written_sequence = sequence;
  return WriteDecision{Applied::applied, std::move(fence)};
}

}  // namespace

std::string lock_domain(std::string_view engine_domain, std::string_view name) {
  constexpr std::string_view kPrefix = "?prefix=";
  const std::size_t at = engine_domain.find(kPrefix);
  std::string domain{engine_domain.substr(0, at)};
  domain += '#';
  if (at != std::string_view::npos) {
    domain += percent_decode(engine_domain.substr(at + kPrefix.size())).value_or("");
  }
  domain += name;
  return domain;
}

Result<Holder, StoreError> to_holder(const Sequencer& sequencer) {
  if (auto good = check_token(sequencer.token); !good) return Unexpected{good.error()};
  if (auto good = check_name(sequencer.name); !good) return Unexpected{good.error()};
  if (sequencer.mode == Mode::permit) {
    return invalid("a permit is not fenced: several of its tokens are valid at once",
                   "take the lock exclusive or shared, or use put with a version");
  }
  return Holder{.domain = lock_domain(sequencer.domain, sequencer.name),
                .mode = sequencer.mode,
                .token = sequencer.token,
                .owner_fp = sequencer.owner_fp};
}

Result<Fence, StoreError> decide_open(const std::optional<Fence>& fence,
                                      const Holder& holder,
                                      const OpenOptions& options) {
  Fence known = fence.value_or(Fence{});
  if (!fence) {
    known.domain = holder.domain;
    known.policy = options.policy.value_or(WritePolicy::many);
  }
  if (known.domain != holder.domain) return wrong_domain(known, holder);
  if (options.policy.value_or(known.policy) != known.policy) {
    return invalid("the resource has the other write policy",
                   "leave the policy out: the first open fixed it");
  }
  return holder.mode == Mode::exclusive ? open_exclusive(std::move(known), holder)
                                        : open_shared(std::move(known), holder);
}

Result<Fence, StoreError> decide_read(const std::optional<Fence>& fence,
                                      const Holder& holder,
                                      Opened opened) {
  if (opened == Opened::not_yet && (!fence || !may_read(*fence, holder))) {
    return decide_open(fence, holder, {});
  }
  if (!fence) return forgotten(holder);
  if (fence->domain != holder.domain) return wrong_domain(*fence, holder);
  if (may_read(*fence, holder)) return *fence;
  if (holder.token < fence->exclusive.token) return overtaken(holder, fence->exclusive.token);
  return holder.token == fence->exclusive.token ? another_owner(holder) : forgotten(holder);
}

Result<WriteDecision, StoreError> decide_write(const std::optional<Fence>& fence,
                                               const Holder& holder,
                                               const WriteRequest& request) {
  if (holder.mode != Mode::exclusive) {
    return invalid("a shared lease may only read", "take the lock exclusive to write");
  }
  if (request.sequence == std::uint64_t{0}) {
    return invalid("sequence 0 is the open", "number writes from 1");
  }
  if (request.opened == Opened::before) {
    if (!fence) return forgotten(holder);
    if (fence->domain != holder.domain) return wrong_domain(*fence, holder);
    if (holder.token > fence->any.token) return forgotten(holder);
  }
  auto open = decide_open(fence, holder, {});
  if (!open) return Unexpected{std::move(open).error()};
  return next_operation(std::move(*open), holder, request);
}

Fence rebased(const Fence& fence, std::string_view domain) {
  Fence moved;
  moved.domain = domain;
  moved.policy = fence.policy;
  return moved;
}

}  // namespace holdfast::core
