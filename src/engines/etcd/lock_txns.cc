#include "engines/etcd/lock_txns.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

/// Those ahead of a place that was created at `created`, and the place itself; zero: the youngest.
Range ahead_range(const Keys& keys, const Place& place, Mode mode, Revision created) {
  Range range{.keys = keys.contenders(place.name), .created_by = created};
  if (mode == Mode::exclusive) {
    // Whoever it is, it has to go first.
    range.order = Range::Order::newest_first;
    range.part = Range::Part::keys_only;
    range.limit = 2;
  } else {
    range.order = Range::Order::oldest_first;
  }
  return range;
}

std::vector<KeyValue> without(const std::string& key, std::vector<KeyValue> entries) {
  std::erase_if(entries, [&](const KeyValue& entry) { return entry.key == key; });
  return entries;
}

}  // namespace

Txn enter_txn(const Keys& keys, const Place& place, const Entrant& entrant) {
  return {.when = {{.key = place.key}, {.key = keys.given_up(place.name, place.owner_fp)}},
          .then = {Put{.key = place.key, .value = to_value(entrant), .lease = place.lease},
                   ahead_range(keys, place, entrant.claim.mode, 0)},
          .otherwise = {Range{.keys = {.key = place.key}, .part = Range::Part::keys_only}}};
}

Txn look_txn(const Keys& keys, const Place& place, const core::Claim& claim) {
  return {.when = {{.key = place.key, .number = place.created}},
          .then = {ahead_range(keys, place, claim.mode, place.created)}};
}

Txn leave_txn(const Keys& keys, const Place& place) {
  std::vector<Operation> leave{Erase{.keys = {.key = place.key}}};
  if (place.unsettled) {
    leave.emplace_back(
        Put{.key = keys.given_up(place.name, place.owner_fp), .value = {}, .lease = place.lease});
  }
  Txn txn{.when = {{.key = place.key, .number = place.created}}, .then = leave};
  if (place.created == 0) txn.when.front().is = Compare::Is::not_equal;
  if (place.unsettled) txn.otherwise = std::move(leave);
  return txn;
}

Seen read_entered(const TxnAnswer& answer, const Place& place) {
  if (answer.held && answer.answers.size() == 2) {
    return {.created = answer.header.revision,
            .ahead = without(place.key, answer.answers[1].found)};
  }
  if (answer.held || answer.answers.empty() || answer.answers[0].found.empty()) return {};
  return {.created = answer.answers[0].found.front().created};
}

Seen read_looked(const TxnAnswer& answer, const Place& place) {
  if (!answer.held || answer.answers.empty()) return {};
  return {.created = place.created, .ahead = without(place.key, answer.answers[0].found)};
}

Left read_left(const TxnAnswer& answer) { return answer.held ? Left::now : Left::before; }

}  // namespace holdfast::etcd
