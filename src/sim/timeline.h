// A trace as people read it: one line per event, in words.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/seed_run.h"

namespace holdfast::sim {

enum class Detail : std::uint8_t {
  /// What clients and the resource did, and faults. Attempts that find a lock taken are told
  /// together.
  story,
  /// Every message and every script too.
  everything,
};

/// What kind of news a line is.
enum class Mood : std::uint8_t { plain, good, bad, fault, quiet };

struct TimelineLine {
  TimePoint when{};
  Mood mood{Mood::plain};
  /// "client3 is granted ledger with token 7"
  std::string words;
};

/// The names of a world's hosts.
class HostNames {
 public:
  explicit HostNames(const std::vector<HostName>& hosts);

  std::string_view of(HostId host) const;
  bool is_client(HostId host) const { return of(host).starts_with("client"); }

 private:
  std::vector<std::string_view> names_;
};

bool belongs_to_story(EventKind kind);
TimelineLine describe(const Event& event, const HostNames& names);

/// Of a report whose run kept its events (Trace::Keep::events), in order.
std::vector<TimelineLine> timeline(const SeedReport& report, Detail detail);

/// "  1234.567 ms  client3 is granted ledger with token 7"
std::string to_text(const TimelineLine& line);

}  // namespace holdfast::sim
