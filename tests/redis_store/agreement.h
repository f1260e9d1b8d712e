// A store that decides at its server what core/fence.cc decides in C++, run side by side with it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store_backend.h"

namespace holdfast::redis_store {

/// The store that is compared, with a look at what its server keeps of a key.
class ComparedStore {
 public:
  virtual ~ComparedStore() = default;

  virtual StoreResult perform(const StoreRequest& request) = 0;
  /// The nine fields of the fence; all empty: there is none.
  virtual std::vector<std::string> remembered(const std::string& key) = 0;
  /// Whether the value has a time at which it goes.
  virtual bool expires(const std::string& key) = 0;
  /// Whether everything of the key has.
  virtual bool passes(const std::string& key) = 0;
  /// That time has come.
  virtual void expire(const std::string& key) = 0;
  virtual void forget(const std::string& key) = 0;
};

/// Random operations from a seed, on both: they have to agree in everything, outcome, wording, and
/// what is remembered. Fails the test where they do not.
void expect_agreement(ComparedStore& store, std::uint32_t seed, int steps);

}  // namespace holdfast::redis_store
