// Texts joined when the program is compiled.

#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast {

template <const std::string_view&... kParts>
class Joined {
  static constexpr auto kText = [] {
    std::array<char, (kParts.size() + ... + 0)> text{};
    auto* end = text.begin();
    ((end = std::copy(kParts.begin(), kParts.end(), end)), ...);
    return text;
  }();

 public:
  /// Lives for the whole program.
  static constexpr std::string_view value{kText.data(), kText.size()};
};

}  // namespace holdfast
