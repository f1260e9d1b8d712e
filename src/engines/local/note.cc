#include "engines/local/note.h"

#include <algorithm>
#include <atomic>

#include "engines/local/pool.h"

namespace holdfast::local {
namespace {

void put(char* to, std::string_view text) {
  for (const char c : text) std::atomic_ref<char>{*to++}.store(c, std::memory_order_relaxed);
}

std::string take(char* from, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = std::atomic_ref<char>{*from++}.load(std::memory_order_relaxed);
  return text;
}

}  // namespace

Result<Ref> write_note(StateFile& file,
                       std::string_view host,
                       std::string_view label,
                       std::string_view trace_id) {
  const std::size_t bytes = host.size() + label.size() + trace_id.size();
  if (bytes == 0) return Ref{0};
  const Kind kind = note_kind(bytes);
  const auto ref = allocate(file, kind);
  if (!ref) return ref;
  Note& note = file.at<Note>(*ref);
  note.units.store(units_of(kind));
  note.host_bytes.store(static_cast<std::uint16_t>(host.size()));
  note.label_bytes.store(static_cast<std::uint16_t>(label.size()));
  note.trace_bytes.store(static_cast<std::uint16_t>(trace_id.size()));
  put(note.text(), host);
  put(note.text() + host.size(), label);
  put(note.text() + host.size() + label.size(), trace_id);
  return ref;
}

NoteText read_note(StateFile& file, Ref ref) {
  if (ref == 0) return {};
  Note& note = file.at<Note>(ref);
  const std::size_t host = note.host_bytes.load();
  const std::size_t label = note.label_bytes.load();
  const std::size_t trace = note.trace_bytes.load();
  const std::size_t room = std::min<std::size_t>(note.units.load() * kUnit, 128 * kUnit);
  if (host + label + trace + Note::kHeadBytes > room) return {};
  return {.host = take(note.text(), host),
          .label = take(note.text() + host, label),
          .trace_id = take(note.text() + host + label, trace)};
}

void free_note(StateFile& file, Ref ref) {
  if (ref == 0) return;
  const std::uint32_t units = file.at<Note>(ref).units.load();
  recycle(file, note_kind(units * kUnit - Note::kHeadBytes), ref);
}

}  // namespace holdfast::local
