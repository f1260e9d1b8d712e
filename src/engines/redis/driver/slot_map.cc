#include "engines/redis/driver/slot_map.h"

#include <algorithm>

namespace holdfast::redis {
namespace {

/// `[first, last, [host, port, …], replicas…]`.
bool is_range(const Reply& entry) {
  using Kind = Reply::Kind;
  if (entry.items.size() < 3 || entry.items[0].kind != Kind::integer ||
      entry.items[1].kind != Kind::integer || entry.items[2].items.size() < 2) {
    return false;
  }
  const std::int64_t first = entry.items[0].integer;
  const std::int64_t last = entry.items[1].integer;
  const std::int64_t port = entry.items[2].items[1].integer;
  return first >= 0 && first <= last && last < kSlots && port > 0 && port <= UINT16_MAX;
}

}  // namespace

std::optional<SlotMap> SlotMap::read(const Reply& slots, const Address& asked) {
  if (slots.kind != Reply::Kind::array) return std::nullopt;
  SlotMap map;
  for (const Reply& entry : slots.items) {
    if (!is_range(entry)) return std::nullopt;
    const auto& master = entry.items[2].items;
    Address address{master[0].text, static_cast<std::uint16_t>(master[1].integer)};
    // A server that does not know by which name it is reached says nothing, or "?".
    if (address.host.empty() || address.host == "?") address.host = asked.host;
    const auto number = static_cast<std::uint16_t>(map.number_of(address));
    for (std::int64_t slot = entry.items[0].integer; slot <= entry.items[1].integer; ++slot) {
      map.owners_[static_cast<std::size_t>(slot)] = number;
    }
  }
  return map;
}

std::optional<Address> SlotMap::master_of(std::uint16_t slot) const {
  const std::uint16_t number = owners_[slot];
  return number == 0 ? std::nullopt : std::optional{masters_[number - 1]};
}

std::set<Address> SlotMap::masters() const {
  std::vector<bool> counted(masters_.size() + 1);
  for (const std::uint16_t number : owners_) counted[number] = true;
  std::set<Address> masters;
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    if (counted[i + 1]) masters.insert(masters_[i]);
  }
  return masters;
}

void SlotMap::move(std::uint16_t slot, const Address& master) {
  owners_[slot] = static_cast<std::uint16_t>(number_of(master));
}

std::size_t SlotMap::number_of(const Address& master) {
  const auto found = std::ranges::find(masters_, master);
  if (found != masters_.end()) return static_cast<std::size_t>(found - masters_.begin()) + 1;
  masters_.push_back(master);
  return masters_.size();
}

}  // namespace holdfast::redis
