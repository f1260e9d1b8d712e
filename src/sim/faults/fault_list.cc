#include "sim/faults/fault_list.h"

#include <algorithm>

namespace holdfast::sim {
namespace {

constexpr std::array<std::string_view, kFaultClasses> kSummaries{
    "messages are lost",
    "requests arrive more than once",
    "messages take long, and overtake each other",
    "two hosts do not hear each other for a while",
    "one host hears another, which does not hear it",
    "messages between two hosts are held back, then all arrive",
    "a process does not run for a while",
    "a process ends without another word, and starts again",
    "a server restarts and keeps what it had acknowledged",
    "a server restarts and loses what was not on its disk",
    "a replica takes over that lacks the last writes",
    "a server's clock is stepped",
    "a server's clock runs faster or slower than leases allow for",
    "a client's boot clock runs slower than leases allow for",
    "a member of a cluster does not hear the others for a while",
    "another member leads from now on",
    "a cluster forgets what has changed until now",
    "a leader stops, and takes leases away later that were renewed meanwhile",
};

std::string every_name(std::string_view between) {
  std::string names;
  for (const std::string_view name : kFaultNames) {
    if (!names.empty()) names += between;
    names += name;
  }
  return names;
}

}  // namespace

std::string_view summary_of(FaultClass kind) {
  return kSummaries.at(static_cast<std::size_t>(kind));
}

std::string to_list(FaultSet faults) {
  if (faults.empty()) return "none";
  if (faults == FaultSet::all()) return "all";
  std::string list;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    const auto kind = static_cast<FaultClass>(i);
    if (!faults.has(kind)) continue;
    if (!list.empty()) list += ',';
    list += to_string(kind);
  }
  return list;
}

Result<FaultSet> parse_faults(std::string_view list) {
  if (list == "all") return FaultSet::all();
  FaultSet faults;
  if (list == "none") return faults;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view name = list.substr(at, end - at);
    const auto kind = fault_of(name);
    if (!kind) {
      return Unexpected{Error{Errc::invalid_argument,
                              "there is no fault '" + std::string{name} + "'",
                              "use all, none, or some of: " + every_name(", ")}};
    }
    faults = faults.with(*kind);
    at = end + 1;
  }
  return faults;
}

}  // namespace holdfast::sim
