// Records that any number of programs add to, each under one key of an engine's store.

#pragma once

#include <optional>
#include <string>
#include <utility>

#include "holdfast/store.h"

namespace holdfast::observe {

inline Error not_ours(const std::string& key) {
  return {Errc::corrupt,
          "the key \"" + key + "\" is not what Holdfast writes there",
          "erase it: what belongs there is then gathered anew"};
}

/// Adds the record to what the key has, by compare-and-swap. corrupt: somebody else wrote the key,
/// and it was left alone. Others as Store::update().
template <class Record>
Result<void> add_to_key(Store& store,
                        const std::string& key,
                        const Record& record,
                        const UpdateOptions& options = {}) {
  bool readable = true;
  const auto merged = [&](const Entry* entry) -> std::optional<std::string> {
    if (entry == nullptr) return record.encode();
    auto sum = Record::decode(entry->value);
    readable = sum.has_value();
    if (!readable) return std::nullopt;
    sum->merge(record);
    return sum->encode();
  };
  auto updated = store.update(key, merged, options);
  if (!updated) return Unexpected{Error{std::move(updated).error()}};
  if (!readable) return Unexpected{not_ours(key)};
  return {};
}

/// What the key has; empty: nothing. corrupt: somebody else wrote it. Others as Store::get().
template <class Record>
Result<std::optional<Record>> read_key(Store& store, const std::string& key) {
  const auto entry = store.get(key);
  if (!entry) return Unexpected{Error{entry.error()}};
  if (!*entry) return std::optional<Record>{};
  auto record = Record::decode((*entry)->value);
  if (!record) return Unexpected{not_ours(key)};
  return record;
}

}  // namespace holdfast::observe
