// Options of an acquisition that outlive the call they came with.

#pragma once

#include <string>

#include "holdfast/options.h"

namespace holdfast::recipes {

class OwnedOptions {
 public:
  explicit OwnedOptions(const AcquireOptions& options)
      : options_{options}, label_{options.label}, trace_id_{options.trace_id} {}

  /// Its views point into this object.
  AcquireOptions view() const {
    AcquireOptions options = options_;
    options.label = label_;
    options.trace_id = trace_id_;
    return options;
  }

 private:
  AcquireOptions options_;
  std::string label_;
  std::string trace_id_;
};

}  // namespace holdfast::recipes
