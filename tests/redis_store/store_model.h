// The naive store: a map, and the pure decisions of core/fence.h. What the scripts are compared
// with.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/store_backend.h"

namespace holdfast::redis_store {

struct ModelRow {
  std::optional<std::string> value{};
  Version version{0};
  std::optional<core::Fence> fence{};
  enum class Expiry : std::uint8_t { never, to_come, past };
  Expiry expiry{Expiry::never};
};

/// Thread safety: none.
class StoreModel {
 public:
  /// What a store has to answer. Versions are the store's own business: those of a change are left
  /// at 0, to be told to accept().
  StoreResult perform(const StoreRequest& request);
  /// The version that the store gave to the change just made.
  void accept(const std::string& key, Version version);

  /// What is kept under the key, until it is forgotten.
  const ModelRow* find(const std::string& key) const;
  /// The time of a value that does not last has come.
  void expire(const std::string& key);
  void forget(const std::string& key) { rows_.erase(key); }

 private:
  StoreResult act(const std::string& key, const OpenResource& open);
  StoreResult act(const std::string& key, const ReadResource& read);
  StoreResult act(const std::string& key, const WriteResource& write);
  StoreResult act(const std::string& key, const GetKey& get);
  StoreResult act(const std::string& key, const PutKey& put);
  StoreResult act(const std::string& key, const EraseKey& erase);
  StoreResult act(const std::string& key, const RebaseResource& rebase);

  std::optional<core::Fence> fence_of(const std::string& key) const;
  void save_fence(const std::string& key, const core::Fence& fence);
  Result<Version, StoreError> plain_version(const std::string& key,
                                            const std::optional<Version>& expected) const;

  std::map<std::string, ModelRow> rows_;
};

}  // namespace holdfast::redis_store
