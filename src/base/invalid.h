// The most frequent refusal.

#pragma once

#include <string>
#include <utility>

#include "holdfast/result.h"

namespace holdfast {

/// For `return invalid("the TTL is negative", "use 100 ms to 24 h");`.
inline Unexpected<Error> invalid(std::string message, std::string remedy) {
  return Unexpected{Error{Errc::invalid_argument, std::move(message), std::move(remedy)}};
}

}  // namespace holdfast
