#include "sim/world/trace.h"

#include <cstring>

namespace holdfast::sim {
namespace {

std::uint64_t word_of(std::string_view text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data(), text.size());
  return word;
}

}  // namespace

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
  std::string_view text_left = text;
  for (; text_left.size() >= sizeof(std::uint64_t); text_left.remove_prefix(8)) {
    mix(word_of(text_left.substr(0, 8)));
  }
  if (!text_left.empty()) mix(word_of(text_left));
  if (keeps()) events_.push_back({when, kind, host, peer, number, std::string{text}});
}

void Trace::explain(std::string_view words) {
  if (!keeps() || events_.empty()) return;
  std::string& text = events_.back().text;
  if (!text.empty()) text += ' ';
  text += words;
}

}  // namespace holdfast::sim
