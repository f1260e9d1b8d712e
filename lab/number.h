// The values of the demonstrations: numbers, stored as text.

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "holdfast/store_types.h"

namespace holdfast::lab {

/// What is stored, as a number; 0 when nothing is.
inline std::int64_t to_number(const std::optional<Entry>& entry) {
  std::int64_t number = 0;
  if (entry)
    std::from_chars(entry->value.data(), entry->value.data() + entry->value.size(), number);
  return number;
}

}  // namespace holdfast::lab
