#include <charconv>

#include "base/wall_clock.h"
#include "holdfast/observer.h"

namespace holdfast {
namespace {

std::string quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 0xf];
      continue;
    }
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + "\"";
}

std::string in_seconds(Duration duration) {
  char text[32];
  const double value = std::chrono::duration<double>{duration}.count();
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

/// The members of a JSON object, one after another.
class Members {
 public:
  void add(std::string_view name, const std::string& value) {
    if (!text_.empty()) text_ += ',';
    text_ += quoted(name) + ":" + value;
  }
  void add_text(std::string_view name, std::string_view value) {
    if (!value.empty()) add(name, quoted(value));
  }
  std::string object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

bool is_of_store(EventKind kind) { return kind == EventKind::stale || kind == EventKind::conflict; }

std::string_view severity(const Event& event) {
  switch (event.kind) {
    case EventKind::lost:
      return "ERROR";
    case EventKind::jeopardy:
    case EventKind::broken:
    case EventKind::stale:
      return "WARN";
    case EventKind::acquired:
    case EventKind::refused:
    case EventKind::renewed:
    case EventKind::released:
    case EventKind::detached:
    case EventKind::conflict:
      break;
  }
  // Somebody else has it: that is what locks are for.
  const bool expected = event.error == nullptr || event.error->code == Errc::busy ||
                        event.error->code == Errc::timeout ||
                        event.error->code == Errc::cancelled ||
                        event.error->code == Errc::version_conflict;
  return expected ? "INFO" : "WARN";
}

Members attributes(const Event& event) {
  Members members;
  members.add_text(is_of_store(event.kind) ? "holdfast.key" : "holdfast.lock", event.name);
  members.add_text("holdfast.engine", event.engine);
  if (event.token != Token{0}) {
    members.add("holdfast.token", std::to_string(event.token.value()));
  }
  if (event.kind == EventKind::acquired) {
    members.add("holdfast.contended", event.contended ? "true" : "false");
  }
  if (event.kind == EventKind::acquired || event.kind == EventKind::refused) {
    members.add_text("holdfast.mode", to_string(event.mode));
    members.add("holdfast.waited_s", in_seconds(event.waited));
  }
  if (event.held) members.add("holdfast.held_s", in_seconds(*event.held));
  if (event.hand_over) members.add("holdfast.hand_over_s", in_seconds(*event.hand_over));
  if (event.kind == EventKind::lost) members.add_text("holdfast.reason", to_string(event.reason));
  if (event.kind == EventKind::released) {
    members.add_text("holdfast.outcome", to_string(event.outcome));
  }
  if (event.error != nullptr) {
    members.add_text("error.type", to_string(event.error->code));
    members.add_text("error.message", event.error->message);
  }
  return members;
}

}  // namespace

std::string_view to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::acquired:
      return "holdfast.lock.acquired";
    case EventKind::refused:
      return "holdfast.lock.refused";
    case EventKind::renewed:
      return "holdfast.lock.renewed";
    case EventKind::jeopardy:
      return "holdfast.lock.jeopardy";
    case EventKind::lost:
      return "holdfast.lock.lost";
    case EventKind::released:
      return "holdfast.lock.released";
    case EventKind::detached:
      return "holdfast.lock.detached";
    case EventKind::broken:
      return "holdfast.lock.broken";
    case EventKind::stale:
      return "holdfast.store.stale";
    case EventKind::conflict:
      return "holdfast.store.conflict";
  }
  return "unknown";
}

std::string to_json(const Event& event) {
  Members members;
  members.add("time_unix_nano", quoted(std::to_string(wall_ms()) + "000000"));
  members.add_text("severity_text", severity(event));
  members.add_text("event_name", to_string(event.kind));
  members.add_text("trace_id", event.trace_id);
  members.add("attributes", attributes(event).object());
  return members.object();
}

}  // namespace holdfast
