#include "sim/trace.h"

#include <algorithm>

namespace holdfast::sim {

void Trace::note(TimePoint when,
                 EventKind kind,
                 HostId host,
                 HostId peer,
                 std::uint64_t number,
                 std::string_view text) {
  ++count_;
  mix(static_cast<std::uint64_t>(when.time_since_epoch().count()));
  mix(static_cast<std::uint64_t>(kind) << 32 | std::uint64_t{host.index} << 16 | peer.index);
  mix(number);
  // Byte by byte into words: the same on machines of either byte order.
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t word = 0;
    for (const char c : text.substr(at, 8)) word = word << 8 | static_cast<std::uint8_t>(c);
    mix(word);
  }
  if (keeps()) events_.push_back({when, kind, host, peer, number, std::string{text}});
}

void Trace::explain(std::string_view words) {
  if (!keeps() || events_.empty()) return;
  std::string& text = events_.back().text;
  if (!text.empty()) text += ' ';
  text += words;
}

}  // namespace holdfast::sim
