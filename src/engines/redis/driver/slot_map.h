// SlotMap: which master of a cluster has which slots.

#pragma once

#include <optional>
#include <set>
#include <vector>

#include "engines/redis/driver/redirection.h"
#include "engines/redis/hash_slot.h"

namespace holdfast::redis {

/// Thread safety: none.
class SlotMap {
 public:
  /// From an answer to CLUSTER SLOTS; a master without a host has `asked`'s. Empty: it makes no
  /// sense.
  static std::optional<SlotMap> read(const Reply& slots, const Address& asked);

  /// Empty: nobody has it.
  std::optional<Address> master_of(std::uint16_t slot) const;

  /// Those that have slots.
  std::set<Address> masters() const;

  /// One slot has another master. The others stay as they are.
  void move(std::uint16_t slot, const Address& master);

 private:
  std::size_t number_of(const Address& master);

  std::vector<Address> masters_;
  /// By slot: the number of its master, from 1. 0: none.
  std::vector<std::uint16_t> owners_ = std::vector<std::uint16_t>(kSlots);
};

}  // namespace holdfast::redis
