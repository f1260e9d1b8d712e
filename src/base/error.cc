#include "holdfast/error.h"

#include <array>

namespace holdfast {
namespace {

struct Entry {
  Errc code;
  std::string_view name;
  std::string_view remedy;
};

constexpr std::array kEntries{
    Entry{Errc::busy, "busy", "wait for the holder, or do something else meanwhile"},
    Entry{Errc::timeout, "timeout", "try again, or wait longer"},
    Entry{Errc::cancelled, "cancelled", "nothing is held; ask again when ready"},
    Entry{Errc::unavailable, "unavailable", "check the engine's address and its servers"},
    Entry{Errc::unknown_outcome, "unknown_outcome", "repeat the call with the same owner"},
    Entry{Errc::lost, "lost", "stop acting as holder and acquire the lock again"},
    Entry{Errc::stale_token, "stale_token", "stop: another holder has taken over"},
    Entry{Errc::wrong_domain, "wrong_domain", "use the resource's own lock, or rebase it"},
    Entry{Errc::version_conflict, "version_conflict", "read the value again and decide anew"},
    Entry{Errc::too_many_conflicts, "too_many_conflicts", "try again later, or take a lock"},
    Entry{Errc::in_progress, "in_progress", "wait for the result, or ask again later"},
    Entry{Errc::not_found, "not_found", "check the name"},
    Entry{Errc::denied, "denied", "check permissions and credentials"},
    Entry{Errc::invalid_argument, "invalid_argument", "correct the argument; nothing was touched"},
    Entry{Errc::unsupported, "unsupported", "ask for less, or use another engine"},
    Entry{Errc::corrupt, "corrupt", "see the message; nothing was changed"},
    Entry{Errc::io_error, "io_error", "check the file system"},
    Entry{Errc::no_space, "no_space", "free some space; locks already held are not affected"},
    Entry{Errc::shutting_down, "shutting_down", "connect anew"},
    Entry{Errc::internal, "internal", "please report this with the message"},
};

const Entry& entry(Errc code) noexcept {
  for (const Entry& candidate : kEntries) {
    if (candidate.code == code) return candidate;
  }
  return kEntries.back();
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int code) const override {
    return std::string{to_string(static_cast<Errc>(code))};
  }
};

}  // namespace

std::string_view to_string(Errc code) noexcept { return entry(code).name; }
std::string_view remedy(Errc code) noexcept { return entry(code).remedy; }

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

}  // namespace holdfast
