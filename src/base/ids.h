// Strong types for what would otherwise be bare strings.

#pragma once

#include <compare>
#include <string>
#include <utility>

namespace holdfast {

/// The name of a lock. Whoever makes one has checked it (core/limits.h).
class LockName {
 public:
  explicit LockName(std::string text) : text_{std::move(text)} {}
  const std::string& text() const { return text_; }
  friend auto operator<=>(const LockName&, const LockName&) = default;

 private:
  std::string text_;
};

}  // namespace holdfast
