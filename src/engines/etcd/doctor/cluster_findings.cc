#include "engines/etcd/doctor/cluster_findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "engines/etcd/doctor/server_version.h"

namespace holdfast::etcd {
namespace {

using core::Finding;
using core::Findings;
using core::Severity;
using namespace std::chrono_literals;

constexpr Duration kRoundTripMax = 50ms;
/// What etcd's own documentation asks of a disk.
constexpr double kFsyncSecondsMax = 0.01;
constexpr double kSpaceUsedMax = 0.8;
constexpr double kHistoryMax = 5e6;
/// Leases are raised to this at etcd's usual settings.
constexpr Seconds kTtlUsual{2};

std::string millis(double seconds) {
  const auto tenths = std::llround(seconds * 1e4);
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " ms";
}

double seconds_of(Duration time) { return std::chrono::duration<double>{time}.count(); }

std::string whole(Millis time) {
  if (time % Millis{1000} != Millis{0}) return std::to_string(time.count()) + " ms";
  return std::to_string(time.count() / 1000) + " s";
}

bool is_at(const ListedMember& member, const std::string& endpoint) {
  return std::ranges::any_of(
      member.client_urls, [&](const std::string& url) { return url.ends_with("//" + endpoint); });
}

/// Those that the URL does not name. As long as an endpoint is silent, and may be any of them,
/// nobody can tell.
std::string unnamed_members(const ClusterFacts& facts) {
  std::string unnamed;
  for (const MemberFacts& asked : facts.asked) {
    const auto is_this = [&](const ListedMember& member) { return is_at(member, asked.endpoint); };
    if (!asked.silence.empty() && std::ranges::none_of(facts.listed, is_this)) return {};
  }
  for (const ListedMember& member : facts.listed) {
    const bool named = std::ranges::any_of(facts.asked, [&](const MemberFacts& asked) {
      return (asked.silence.empty() && asked.id == member.id) || is_at(member, asked.endpoint);
    });
    if (named || member.client_urls.empty()) continue;
    unnamed += (unnamed.empty() ? "" : ", ") + member.client_urls.front();
  }
  return unnamed;
}

Findings list_findings(const ClusterFacts& facts) {
  Findings found;
  const std::string unnamed = unnamed_members(facts);
  if (facts.asked.size() == 1 && facts.voters > 1) {
    found.push_back({"one_endpoint",
                     Severity::warning,
                     "the URL names one of " + std::to_string(facts.voters) +
                         " members: while that is down, locks are out of reach",
                     "name them all: etcd://a,b,c"});
  } else if (!unnamed.empty()) {
    found.push_back({"unnamed_members",
                     Severity::warning,
                     "the URL does not name all members, and nobody looked at " + unnamed +
                         ": while those it names are down, locks are out of reach",
                     "name them all: etcd://a,b,c"});
  }
  for (const ListedMember& member : facts.listed) {
    if (!member.client_urls.empty()) continue;
    found.push_back({"member_not_started",
                     Severity::warning,
                     "a member was added that never started: it counts as one that is down, and "
                     "when one more fails, the cluster may grant nothing",
                     "start etcd there with --initial-cluster-state existing, or etcdctl member "
                     "remove"});
  }
  return found;
}

}  // namespace

Findings member_findings(const ClusterFacts& facts) {
  Findings found;
  for (const MemberFacts& member : facts.asked) {
    if (!member.silence.empty()) {
      found.push_back({"member_down",
                       Severity::warning,
                       member.endpoint + " does not answer (" + member.silence +
                           "): when one more fails, the cluster may grant nothing",
                       "start etcd there, or replace it: etcdctl member remove, member add"});
    } else if (member.is_learner) {
      found.push_back({"learner",
                       Severity::warning,
                       member.endpoint + " is a learner: it refuses most of what locks ask",
                       "etcdctl member promote, or leave it out of the URL"});
    } else if (member.leader == 0) {
      found.push_back({"no_leader",
                       Severity::danger,
                       member.endpoint + " knows no leader: it grants nothing",
                       "let a majority of the members reach each other"});
    }
  }
  if (facts.voters == 1) {
    found.push_back({"one_member",
                     Severity::warning,
                     "the cluster has one member: while it is down nobody gets a lock, and with "
                     "its disk go all locks and tokens",
                     "three members: etcdctl member add"});
  } else if (facts.voters > 0 && facts.voters % 2 == 0) {
    found.push_back({"even_members",
                     Severity::warning,
                     "the cluster has " + std::to_string(facts.voters) +
                         " members: it survives no more failures than with one less",
                     "an odd number: etcdctl member add, or member remove"});
  }
  std::ranges::move(list_findings(facts), std::back_inserter(found));
  return found;
}

Findings speed_findings(const ClusterFacts& facts) {
  Findings found;
  if (facts.round_trip > kRoundTripMax) {
    const auto least = std::max<std::int64_t>(100 * facts.round_trip / 1s, kTtlUsual.count());
    found.push_back({"slow",
                     Severity::warning,
                     "the cluster takes " + millis(seconds_of(facts.round_trip)) +
                         " to answer what its leader confirms: short leases may end before they "
                         "are renewed",
                     "a TTL of at least " + std::to_string(least) +
                         " s, faster disks, or members that are nearer"});
  }
  for (const MemberFacts& member : facts.asked) {
    const double started = member.metrics.value("process_start_time_seconds").value_or(0);
    const double changes =
        member.metrics.value("etcd_server_leader_changes_seen_total").value_or(0);
    const double hours = std::max((member.read_at - started) / 3600, 1.0);
    if (started <= 0 || member.read_at <= started || changes <= 3 || changes / hours <= 1) continue;
    found.push_back({"leader_changes",
                     Severity::warning,
                     member.endpoint + " has seen " + std::to_string(std::llround(changes)) +
                         " changes of leader: each holds up every lock, and extends the leases of "
                         "holders that are gone",
                     "raise --heartbeat-interval to the round trip between members and "
                     "--election-timeout to ten times that"});
  }
  return found;
}

Findings disk_findings(const ClusterFacts& facts) {
  Findings found;
  for (const MemberFacts& member : facts.asked) {
    constexpr std::string_view kFsync = "etcd_disk_wal_fsync_duration_seconds";
    const auto count = member.metrics.value(std::string{kFsync} + "_count");
    const auto written = member.metrics.value("etcd_server_proposals_applied_total");
    if (count == 0.0 && written.value_or(0) > 0) {
      found.push_back({"no_fsync",
                       Severity::danger,
                       member.endpoint + " does not wait for its disk: what it has promised is "
                                         "lost when its machine crashes, and two may then hold "
                                         "the same lock",
                       "start it without --unsafe-no-fsync"});
    }
    const auto slowest = member.metrics.quantile(kFsync, 0.99);
    if (slowest && *slowest > kFsyncSecondsMax) {
      const std::string bound =
          std::isinf(*slowest) ? "more than 8 s" : "up to " + millis(*slowest);
      found.push_back({"slow_disk",
                       Severity::warning,
                       "one in a hundred writes of " + member.endpoint + " waits " + bound +
                           " for the disk: the leader may change, and a leader that is stuck may "
                           "end leases that are kept",
                       "a disk of its own for --wal-dir, an SSD, or a higher priority: ionice -c2 "
                       "-n0"});
    }
  }
  return found;
}

Findings space_findings(const ClusterFacts& facts) {
  Findings found;
  for (const Alarm& alarm : facts.alarms) {
    if (alarm.kind == Alarm::Kind::no_space) {
      found.push_back({"no_space",
                       Severity::danger,
                       "the space quota is used up: no lock can be taken and nothing be stored",
                       "etcdctl compact REVISION, etcdctl defrag, etcdctl alarm disarm; and raise "
                       "--quota-backend-bytes"});
    } else {
      found.push_back({"corrupt",
                       Severity::danger,
                       "a member's data differs from the others': two may hold the same lock",
                       "etcdctl member remove it, delete its data directory, and add it again"});
    }
  }
  for (const MemberFacts& member : facts.asked) {
    const double quota = member.metrics.value("etcd_server_quota_backend_bytes").value_or(0);
    const double used = static_cast<double>(member.database_bytes);
    if (quota > 0 && used > quota * kSpaceUsedMax) {
      found.push_back({"space_short",
                       Severity::warning,
                       member.endpoint + " has used " +
                           std::to_string(std::llround(100 * used / quota)) +
                           " % of its space quota: beyond it no lock can be taken",
                       "etcdctl defrag, or raise --quota-backend-bytes"});
    }
    const double current = member.metrics.value("etcd_debugging_mvcc_current_revision").value_or(0);
    const double compacted =
        member.metrics.value("etcd_debugging_mvcc_compact_revision").value_or(0);
    if (current - std::max(compacted, 0.0) > kHistoryMax) {
      found.push_back({"not_compacted",
                       Severity::warning,
                       member.endpoint + " keeps the last " +
                           std::to_string(std::llround(current - std::max(compacted, 0.0))) +
                           " changes: its database grows until the quota is used up",
                       "--auto-compaction-mode=periodic --auto-compaction-retention=1h"});
    }
  }
  return found;
}

Findings lease_findings(const ClusterFacts& facts) {
  if (facts.ttl_min <= facts.ttl_asked.value_or(kTtlUsual)) return {};
  const std::string least = whole(facts.ttl_min);
  const std::string raised =
      facts.ttl_asked ? "a TTL of " + whole(*facts.ttl_asked) + " to " : "every TTL to at least ";
  return {{"ttl_raised",
           Severity::warning,
           "the cluster raises " + raised + least +
               ": so long others wait when a holder vanishes, whatever it asked for",
           "ask for TTLs of " + least +
               " and more, or lower --election-timeout: the least TTL is "
               "one and a half times that"}};
}

Findings rights_findings(const ClusterFacts& facts) {
  Findings found;
  const std::string who = facts.user.empty() ? "this client" : "the user '" + facts.user + "'";
  const std::string range =
      facts.prefix.empty() ? "--from-key=true ''" : "--prefix=true " + facts.prefix;
  for (const Refusal& refusal : facts.refusals) {
    found.push_back({"denied_" + refusal.what,
                     Severity::danger,
                     "the cluster does not let " + who + " do what locks need: " + refusal.what +
                         ": " + refusal.reason,
                     "etcdctl role grant-permission ROLE readwrite " + range});
  }
  const bool unread = std::ranges::all_of(facts.asked, [](const MemberFacts& member) {
    return member.metrics.empty() || !member.silence.empty();
  });
  if (unread || facts.voters == 0) {
    found.push_back({"not_examined",
                     Severity::warning,
                     unread ? "no member shows its metrics: how fast its disk is and how much "
                              "space there is, is not known"
                            : "the cluster does not tell its members: how many failures it "
                              "survives is not known",
                     unread ? "let this machine read /metrics at the client port"
                            : "run doctor as the user root"});
  }
  return found;
}

Findings network_findings(const ClusterFacts& facts) {
  Findings found;
  if (!facts.path.stays_here && !facts.path.encrypted) {
    found.push_back({"not_encrypted",
                     Severity::warning,
                     "the way to the cluster is not encrypted: others on it can read passwords and "
                     "take or release locks",
                     "use etcds://, and --cert-file and --key-file at the servers"});
  }
  if (!facts.path.stays_here && !facts.path.authenticated) {
    found.push_back({"no_password",
                     Severity::warning,
                     "the cluster lets in everybody who can reach it",
                     "etcdctl user add, role grant-permission and auth enable, and the user in the "
                     "URL; or --client-cert-auth"});
  }
  return found;
}

Findings version_findings(const ClusterFacts& facts) {
  Findings found;
  for (const MemberFacts& member : facts.asked) {
    const auto version = read_version(member.version);
    if (!version) continue;
    for (const KnownDefect& defect : defects_of(*version, facts.voters)) {
      found.push_back({defect.id,
                       defect.severity,
                       member.endpoint + " is etcd " + member.version + ": " + defect.what,
                       "etcd " + defect.fixed_in + " or later"});
    }
  }
  return found;
}

Findings findings_of(const ClusterFacts& facts) {
  Findings found;
  for (Findings part : {member_findings(facts),
                        speed_findings(facts),
                        disk_findings(facts),
                        space_findings(facts),
                        lease_findings(facts),
                        rights_findings(facts),
                        network_findings(facts),
                        version_findings(facts)}) {
    std::ranges::move(part, std::back_inserter(found));
  }
  return found;
}

}  // namespace holdfast::etcd
