#include "sim/trace.h"

namespace holdfast::sim {

void Trace::note(TimePoint when, std::string_view what) {
  std::string line = std::to_string(when.time_since_epoch().count());
  line += ' ';
  line += what;
  line += '\n';
  for (const char c : line) {
    hash_ ^= static_cast<std::uint8_t>(c);
    hash_ *= 0x100000001b3;
  }
  ++events_;
  lines_.push_back(std::move(line));
}

}  // namespace holdfast::sim
