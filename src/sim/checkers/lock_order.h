// Items of a history, lock by lock, each lock's in the order of a number.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/world/history.h"

namespace holdfast::sim {

/// What stands for an item: its lock, the number it is ordered by and its place in the history.
struct Keyed {
  std::size_t lock;
  std::int64_t key;
  std::size_t index;

  friend auto operator<=>(const Keyed&, const Keyed&) = default;
};

inline std::int64_t order_key(TimePoint time) { return time.time_since_epoch().count(); }
/// Tokens stay below 2^53.
inline std::int64_t order_key(Token token) { return static_cast<std::int64_t>(token.value()); }

/// Sorts. Items that are in order already, as histories mostly are, cost one pass.
void order_by_lock(std::vector<Keyed>& items);

/// The grants that carry a token, ordered by lock and by `key_of`.
template <class KeyOf>
std::vector<Keyed> fenced_grants(const History& history, KeyOf key_of) {
  std::vector<Keyed> items;
  items.reserve(history.acquisitions.size());
  for (std::size_t i = 0; i < history.acquisitions.size(); ++i) {
    const Acquisition& acquisition = history.acquisitions[i];
    if (!acquisition.granted() || acquisition.token == Token{0}) continue;
    items.push_back({acquisition.lock, order_key(key_of(acquisition)), i});
  }
  order_by_lock(items);
  return items;
}

/// Calls `visit` with the items of each lock in turn.
template <class Visit>
void for_each_lock(const std::vector<Keyed>& items, Visit visit) {
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin + 1;
    while (end < items.size() && items[end].lock == items[begin].lock) ++end;
    visit(std::span{items}.subspan(begin, end - begin));
    begin = end;
  }
}

/// The element for an index, of a vector that grows as indices come up.
template <class State>
State& state_of(std::vector<State>& states, std::size_t index) {
  if (index >= states.size()) states.resize(index + 1);
  return states[index];
}

}  // namespace holdfast::sim
