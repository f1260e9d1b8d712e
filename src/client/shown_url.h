// What URLs that are shown to people have in common.

#pragma once

#include <string>

#include "base/percent.h"

namespace holdfast {

/// Adds `&parameter=value`, unless the value is empty.
inline void add_parameter(std::string& shown, const char* parameter, const std::string& value) {
  if (!value.empty()) shown += '&' + std::string{parameter} + '=' + percent_encode(value);
}

}  // namespace holdfast
