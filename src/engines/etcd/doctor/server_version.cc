#include "engines/etcd/doctor/server_version.h"

#include <array>
#include <charconv>

namespace holdfast::etcd {
namespace {

using core::Severity;

struct Defect {
  std::string_view id;
  Severity severity;
  std::string_view what;
  /// From this release of 3.5 on it was there.
  ServerVersion since;
  /// The releases of 3.4 and 3.5 that mended it. 0: that line never had it.
  int fixed_in_3_4;
  int fixed_in_3_5;
  /// Only in a cluster of one.
  bool alone;
};

constexpr std::array kDefects{
    Defect{"inconsistent_data",
           Severity::danger,
           "members may disagree after a crash (etcd issue 13766), and two then hold the same lock",
           {3, 5, 0},
           0,
           3,
           false},
    Defect{"not_durable_alone",
           Severity::danger,
           "a server alone answers before its disk has it (etcd issue 14370): a crash takes back "
           "locks and tokens",
           {3, 4, 0},
           21,
           5,
           true},
    Defect{"leases_end_early",
           Severity::warning,
           "a leader that was stuck ends leases that are kept (etcd issue 15247): holders lose "
           "their locks without a fault of theirs",
           {3, 4, 0},
           31,
           13,
           false},
    Defect{"revision_goes_back",
           Severity::warning,
           "a crash while it compacts can take revisions back (etcd issue 17780), and tokens with "
           "them: the store then refuses new holders until they have caught up",
           {3, 4, 0},
           32,
           14,
           false}};

/// The release that mended it in the version's line; empty: it has not got it.
std::optional<int> fixed_in(const Defect& defect, const ServerVersion& version) {
  if (version < defect.since || version.major != 3) return std::nullopt;
  const int fixed = version.minor == 4   ? defect.fixed_in_3_4
                    : version.minor == 5 ? defect.fixed_in_3_5
                                         : 0;
  if (version.patch >= fixed) return std::nullopt;
  return fixed;
}

}  // namespace

std::optional<ServerVersion> read_version(std::string_view text) {
  ServerVersion version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* part : {&version.major, &version.minor, &version.patch}) {
    const auto read = std::from_chars(at, end, *part);
    if (read.ec != std::errc{}) return std::nullopt;
    const bool is_last = part == &version.patch;
    if (!is_last && (read.ptr == end || *read.ptr != '.')) return std::nullopt;
    at = is_last ? read.ptr : read.ptr + 1;
  }
  return version;
}

std::vector<KnownDefect> defects_of(const ServerVersion& version, std::size_t voters) {
  std::vector<KnownDefect> found;
  if (version < ServerVersion{3, 4, 0}) {
    found.push_back({"version_old",
                     Severity::danger,
                     "it is not maintained any more, and its locks are not tested here",
                     "3.4.32"});
    return found;
  }
  for (const Defect& defect : kDefects) {
    const auto fixed = fixed_in(defect, version);
    if (!fixed || (defect.alone && voters != 1)) continue;
    found.push_back({std::string{defect.id},
                     defect.severity,
                     std::string{defect.what},
                     "3." + std::to_string(version.minor) + '.' + std::to_string(*fixed)});
  }
  return found;
}

}  // namespace holdfast::etcd
