#include "engines/local/limit_table.h"

#include <algorithm>
#include <bit>

#include "engines/local/name_key.h"

namespace holdfast::local {
namespace {

__extension__ using Wide = unsigned __int128;

/// Not at one moment: what is done with it is done by swap(), or checked again.
LimitSlot look(const LimitSlot& slot) {
  auto& open = const_cast<LimitSlot&>(slot);
  return {.key = std::atomic_ref{open.key}.load(std::memory_order_acquire),
          .full_at_ns = std::atomic_ref{open.full_at_ns}.load(std::memory_order_acquire)};
}

bool swap(LimitSlot& slot, const LimitSlot& seen, const LimitSlot& next) {
  return __sync_bool_compare_and_swap(
      reinterpret_cast<Wide*>(&slot), std::bit_cast<Wide>(seen), std::bit_cast<Wide>(next));
}

Duration ahead_of(const LimitSlot& seen, std::uint64_t now) {
  if (seen.full_at_ns <= now) return Duration::zero();
  const std::uint64_t most = core::kAheadMax.count();
  return Duration{static_cast<std::int64_t>(std::min(seen.full_at_ns - now, most))};
}

}  // namespace

LimitTable::Search LimitTable::search(std::uint64_t key, std::uint64_t now) {
  Search found;
  for (std::uint64_t at = 0; at < kReach; ++at) {
    LimitSlot* const bucket = file_->bucket(key + at);
    for (std::size_t i = 0; i < LimitFile::kBucketSlots; ++i) {
      const LimitSlot seen = look(bucket[i]);
      if (seen.key == key) {
        found.match = {&bucket[i], seen};
        return found;
      }
      const bool is_free = found.room.slot == nullptr && seen.full_at_ns <= now;
      if (is_free) found.room = {&bucket[i], seen};
    }
  }
  return found;
}

bool LimitTable::is_twice(std::uint64_t key, std::uint64_t now, const LimitSlot* mine) {
  for (std::uint64_t at = 0; at < kReach; ++at) {
    LimitSlot* const bucket = file_->bucket(key + at);
    for (std::size_t i = 0; i < LimitFile::kBucketSlots; ++i) {
      const LimitSlot seen = look(bucket[i]);
      if (&bucket[i] != mine && seen.key == key && seen.full_at_ns > now) return true;
    }
  }
  return false;
}

Result<RateDecision> LimitTable::reserve(std::string_view name,
                                         const core::Take& take,
                                         TimePoint now) {
  // Zero is nobody's.
  const std::uint64_t key = std::max<std::uint64_t>(NameKey{name}.hash(), 1);
  const auto now_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
  while (true) {
    const Search found = search(key, now_ns);
    const bool is_new = found.match.slot == nullptr;
    const auto& [slot, seen] = is_new ? found.room : found.match;
    if (slot == nullptr) {
      return Unexpected{Error{Errc::no_space,
                              file_->path() + " has no room for one more key that is in use",
                              "limit fewer keys, or use shorter bursts"}};
    }
    const Duration ahead = is_new ? Duration::zero() : ahead_of(seen, now_ns);
    const RateDecision decision = core::decide(take, ahead);
    if (!decision.allowed) {
      if (look(*slot) == seen) return decision;
      continue;
    }
    const LimitSlot next{
        .key = key, .full_at_ns = now_ns + static_cast<std::uint64_t>((ahead + take.cost).count())};
    if (!swap(*slot, seen, next)) continue;
    if (!is_new || !is_twice(key, now_ns, slot)) return decision;
    // Two came at once and found different slots free: this one steps back and takes where the
    // other did.
    if (!swap(*slot, next, {.key = 0, .full_at_ns = 0})) return decision;
  }
}

}  // namespace holdfast::local
