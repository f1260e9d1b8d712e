#include "sim/etcd/etcd_keyspace.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

using namespace etcd;

// What a server bears unless told otherwise.
constexpr std::size_t kOperationsMax = 128;
constexpr std::size_t kBytesMax = 1'572'864;

template <class T>
bool compared(Compare::Is is, const T& one, const T& other) {
  switch (is) {
    case Compare::Is::equal:
      return one == other;
    case Compare::Is::greater:
      return one > other;
    case Compare::Is::less:
      return one < other;
    case Compare::Is::not_equal:
      break;
  }
  return one != other;
}

std::int64_t number_of(Compare::What what, const KeyValue& entry) {
  switch (what) {
    case Compare::What::created:
      return entry.created;
    case Compare::What::modified:
      return entry.modified;
    case Compare::What::version:
      return entry.version;
    case Compare::What::lease:
      return entry.lease.number;
    case Compare::What::value:
      break;
  }
  HOLDFAST_ASSERT(false);
  return 0;
}

Error refusal(std::string text) { return {Errc::invalid_argument, "etcdserver: " + text}; }

const std::string& key_of(const Operation& operation) {
  if (const auto* put = std::get_if<Put>(&operation)) return put->key;
  if (const auto* erase = std::get_if<Erase>(&operation)) return erase->keys.key;
  return std::get<Range>(operation).keys.key;
}

std::optional<Error> flaw_of(const std::vector<Operation>& operations) {
  if (operations.size() > kOperationsMax) return refusal("too many operations in txn request");
  std::set<std::string_view> written;
  for (const Operation& operation : operations) {
    if (key_of(operation).empty()) return refusal("key is not provided");
    const auto* put = std::get_if<Put>(&operation);
    if (put != nullptr && !written.insert(put->key).second) {
      return refusal("duplicate key given in txn request");
    }
  }
  for (const Operation& operation : operations) {
    const auto* erase = std::get_if<Erase>(&operation);
    if (erase == nullptr) continue;
    const auto put_too = [&](std::string_view key) { return within(erase->keys, key); };
    if (std::ranges::any_of(written, put_too)) return refusal("duplicate key given in txn request");
  }
  return std::nullopt;
}

std::size_t size_of(const std::vector<Operation>& operations) {
  std::size_t size = 0;
  for (const Operation& operation : operations) {
    size += key_of(operation).size();
    if (const auto* put = std::get_if<Put>(&operation)) size += put->value.size();
  }
  return size;
}

std::optional<Error> flaw_of(const Txn& txn) {
  if (txn.when.size() > kOperationsMax) return refusal("too many operations in txn request");
  for (const Compare& compare : txn.when) {
    if (compare.key.empty()) return refusal("key is not provided");
  }
  if (auto flaw = flaw_of(txn.then)) return flaw;
  if (auto flaw = flaw_of(txn.otherwise)) return flaw;
  if (size_of(txn.then) + size_of(txn.otherwise) > kBytesMax) {
    return refusal("request is too large");
  }
  return std::nullopt;
}

void order(std::vector<KeyValue>& found, Range::Order by) {
  if (by == Range::Order::oldest_first) {
    std::ranges::stable_sort(found, std::less{}, &KeyValue::created);
  } else if (by == Range::Order::newest_first) {
    std::ranges::stable_sort(found, std::greater{}, &KeyValue::created);
  }
}

}  // namespace

bool within(const KeyRange& range, std::string_view key) {
  if (range.end.empty()) return key == range.key;
  const bool open_end = range.end.size() == 1 && range.end.front() == '\0';
  return key >= range.key && (open_end || key < range.end);
}

const KeyValue* EtcdKeyspace::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found != entries_.end() ? &found->second : nullptr;
}

bool EtcdKeyspace::holds(const Compare& compare) const {
  const KeyValue* entry = find(compare.key);
  if (compare.what == Compare::What::value) {
    return entry != nullptr && compared(compare.is, entry->value, compare.value);
  }
  const std::int64_t number = entry != nullptr ? number_of(compare.what, *entry) : 0;
  return compared(compare.is, number, compare.number);
}

OperationAnswer EtcdKeyspace::perform(const Range& range) const {
  OperationAnswer answer;
  for (auto at = entries_.lower_bound(range.keys.key);
       at != entries_.end() && within(range.keys, at->first);
       ++at) {
    ++answer.count;
    const bool too_new = range.created_by != 0 && at->second.created > range.created_by;
    if (!too_new && range.part != Range::Part::count_only) answer.found.push_back(at->second);
  }
  order(answer.found, range.order);
  const auto limit = static_cast<std::size_t>(range.limit);
  if (limit != 0 && answer.found.size() > limit) answer.found.resize(limit);
  if (range.part == Range::Part::keys_only) {
    for (KeyValue& entry : answer.found) entry.value.clear();
  }
  return answer;
}

OperationAnswer EtcdKeyspace::perform(const Put& put) {
  KeyValue& entry = entries_[put.key];
  if (entry.version == 0) entry = {.key = put.key, .created = next()};
  entry.value = put.value;
  entry.modified = next();
  ++entry.version;
  entry.lease = put.lease;
  note(Change::Kind::put, entry);
  return {};
}

OperationAnswer EtcdKeyspace::perform(const Erase& erase) {
  const auto doomed = [&](const KeyValue& entry) { return within(erase.keys, entry.key); };
  return {.count = erase_if(doomed)};
}

template <class Doomed>
std::int64_t EtcdKeyspace::erase_if(const Doomed& doomed) {
  const auto note_doomed = [&](const auto& one) {
    if (!doomed(one.second)) return false;
    note(Change::Kind::erased, {.key = one.first, .modified = next()});
    return true;
  };
  return static_cast<std::int64_t>(std::erase_if(entries_, note_doomed));
}

void EtcdKeyspace::note(Change::Kind kind, KeyValue entry) {
  changes_.push_back({.kind = kind, .entry = std::move(entry)});
}

void EtcdKeyspace::conclude() {
  if (!changes_.empty() && changes_.back().entry.modified == next()) ++revision_;
}

Result<TxnAnswer> EtcdKeyspace::commit(const Txn& txn, const LeaseExists& exists) {
  if (auto flaw = flaw_of(txn)) return Unexpected{*std::move(flaw)};
  TxnAnswer answer;
  answer.held = std::ranges::all_of(txn.when, [this](const Compare& one) { return holds(one); });
  const std::vector<Operation>& operations = answer.held ? txn.then : txn.otherwise;
  for (const Operation& operation : operations) {
    const auto* put = std::get_if<Put>(&operation);
    if (put != nullptr && put->lease.number != 0 && !exists(put->lease)) {
      return Unexpected{Error{Errc::lost, "etcdserver: requested lease not found"}};
    }
  }
  for (const Operation& operation : operations) {
    answer.answers.push_back(
        std::visit([this](const auto& one) { return perform(one); }, operation));
  }
  conclude();
  answer.header.revision = revision_;
  return answer;
}

void EtcdKeyspace::erase_all_of(LeaseId lease) {
  erase_if([lease](const KeyValue& entry) { return entry.lease == lease; });
  conclude();
}

std::vector<Change> EtcdKeyspace::since(Revision from, const Watch& watch) const {
  HOLDFAST_ASSERT(from >= compacted_);
  std::vector<Change> found;
  const auto before = [](const Change& change, Revision revision) {
    return change.entry.modified < revision;
  };
  for (auto at = std::lower_bound(changes_.begin(), changes_.end(), from, before);
       at != changes_.end();
       ++at) {
    const bool told = watch.only == Watch::Only::all || at->kind == Change::Kind::erased;
    if (told && within(watch.keys, at->entry.key)) found.push_back(*at);
  }
  return found;
}

void EtcdKeyspace::compact(Revision revision) {
  if (revision <= compacted_) return;
  compacted_ = revision;
  std::erase_if(changes_, [revision](const Change& change) {
    const Revision at = change.entry.modified;
    return at < revision || (at == revision && change.kind == Change::Kind::erased);
  });
}

}  // namespace holdfast::sim
