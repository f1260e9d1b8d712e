// The records of leases that were ended by force: who did it and why, kept for a month.
//
// Each is a node below `<prefix>/%broken`, named by the owner's fingerprint and by when it was
// made. Decisions only: no clock and no I/O.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// `now_ms`: wall clock, since 1970.
std::string record_name(std::string_view owner_fp, std::int64_t now_ms);

/// Whether one of them is of this owner.
bool has_record(const std::vector<std::string>& records, std::string_view owner_fp);

/// Those that were kept long enough.
std::vector<std::string> old_records(const std::vector<std::string>& records, std::int64_t now_ms);

}  // namespace holdfast::zookeeper
