#include "sim/checkers/sentence.h"

#include "sim/world/history.h"

namespace holdfast::sim {

std::string in_words(Duration time) {
  std::string digits = std::to_string(time.count() < 0 ? -time.count() : time.count());
  constexpr std::size_t kDecimals = 6;
  if (digits.size() <= kDecimals) digits.insert(0, kDecimals + 1 - digits.size(), '0');
  digits.insert(digits.size() - kDecimals, 1, '.');
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return (time.count() < 0 ? "-" : "") + digits + " ms";
}

std::string in_words(TimePoint time) {
  return time == kNever ? "never" : in_words(time.time_since_epoch());
}

}  // namespace holdfast::sim
