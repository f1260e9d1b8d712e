#include "engines/redis/doctor/node_findings.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

namespace holdfast::redis {
namespace {

using core::Finding;
using core::Findings;
using core::Severity;
using namespace std::chrono_literals;

constexpr Duration kClockMax = 1s;
constexpr Duration kRoundTripMax = 50ms;

std::string millis(Duration time) {
  const auto tenths = std::chrono::duration_cast<std::chrono::microseconds>(time).count() / 100;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " ms";
}

Duration size_of(Duration time) { return time < 0ns ? -time : time; }

Severity for_lost_data(Trust trust) {
  return trust == Trust::itself ? Severity::danger : Severity::warning;
}

std::string after_lost_data(Trust trust) {
  return trust == Trust::itself
             ? "two may then hold the same lock"
             : "the node then stays out of the majority until it is let in again by hand";
}

}  // namespace

Findings persistence_findings(const NodeFacts& facts, Trust trust) {
  Findings found;
  const std::string_view appends = facts.config_of("appendonly");
  if (appends == "no") {
    const bool snapshots = !facts.config_of("save").empty();
    const std::string forgets = snapshots
                                    ? "keeps only snapshots: a restart forgets the locks since then"
                                    : "keeps nothing on disk: a restart forgets every lock";
    found.push_back({snapshots ? "snapshots_only" : "no_persistence",
                     for_lost_data(trust),
                     facts.node + ' ' + forgets + ", and " + after_lost_data(trust),
                     "CONFIG SET appendonly yes, and CONFIG SET appendfsync always"});
  }
  const std::string_view policy = facts.config_of("appendfsync");
  if (appends == "yes" && policy != "always") {
    found.push_back(
        {"fsync_not_always",
         Severity::warning,
         facts.node + " answers before the disk has it (appendfsync " + std::string{policy} +
             "): a crash of its machine forgets the last locks, and " + after_lost_data(trust),
         "CONFIG SET appendfsync always"});
  }
  if (appends == "yes" && policy == "always" &&
      facts.config_of("no-appendfsync-on-rewrite") == "yes") {
    found.push_back({"fsync_pauses",
                     Severity::warning,
                     facts.node +
                         " does not wait for the disk while it rewrites its log: a crash of "
                         "its machine then forgets locks",
                     "CONFIG SET no-appendfsync-on-rewrite no"});
  }
  const bool disk_failed = facts.info_of("aof_last_write_status") == "err" ||
                           facts.info_of("rdb_last_bgsave_status") == "err";
  if (disk_failed) {
    found.push_back({"disk_failed",
                     Severity::danger,
                     facts.node + " could not write to its disk: it refuses locks, or forgets them",
                     "free space or repair the disk under its `dir`, then BGSAVE or BGREWRITEAOF"});
  }
  return found;
}

Findings memory_findings(const NodeFacts& facts) {
  Findings found;
  const std::int64_t limit = facts.config_number("maxmemory");
  const std::string policy{facts.config_of("maxmemory-policy")};
  if (!policy.empty() && policy != "noeviction") {
    const std::int64_t evicted = facts.info_number("evicted_keys");
    const std::string so_far =
        evicted > 0 ? "; it has thrown away " + std::to_string(evicted) + " keys so far" : "";
    found.push_back({"eviction",
                     limit > 0 ? Severity::danger : Severity::warning,
                     facts.node + " throws keys away when memory runs out (maxmemory-policy " +
                         policy + "), locks among them: two may then hold the same lock" + so_far,
                     "CONFIG SET maxmemory-policy noeviction"});
  }
  const std::int64_t used = facts.info_number("used_memory");
  if (limit > 0 && used > limit / 10 * 9) {
    found.push_back({"memory_short",
                     Severity::warning,
                     facts.node + " has used more than nine tenths of its memory limit; beyond it, "
                                  "locks are refused",
                     "raise it: CONFIG SET maxmemory BYTES"});
  }
  return found;
}

Findings replication_findings(const NodeFacts& facts, Trust trust) {
  if (facts.info_of("role") == "slave") {
    return {{"replica",
             Severity::danger,
             facts.node + " is a replica: it takes no locks",
             "use the address of its master, " + std::string{facts.info_of("master_host")} + ':' +
                 std::string{facts.info_of("master_port")}}};
  }
  if (facts.info_number("connected_slaves") == 0) return {};
  const std::string loses =
      " has replicas that it does not wait for: one that takes over may not "
      "know the last locks, and ";
  if (facts.config_number("min-replicas-to-write") == 0) {
    return {
        {"failover_loses_locks",
         for_lost_data(trust),
         facts.node + loses + after_lost_data(trust) +
             "; cut off from them, it goes on all the same",
         "CONFIG SET min-replicas-to-write 1 and CONFIG SET min-replicas-max-lag 5 bound it; an "
         "engine with a majority excludes it"}};
  }
  return {{"failover_window",
           Severity::warning,
           facts.node + loses + after_lost_data(trust),
           "check tokens where you write, or use an engine with a majority"}};
}

Findings rights_findings(const NodeFacts& facts) {
  Findings found;
  const std::string set_user = "ACL SETUSER " + facts.user;
  for (const Refusal& refusal : facts.refusals) {
    const bool key = refusal.reason.find("key") != std::string::npos;
    const bool channel = refusal.reason.find("channel") != std::string::npos;
    std::string fix = set_user + " +" + refusal.command;
    if (key) fix = set_user + " ~" + facts.prefix + "* ~{" + facts.prefix + '*';
    if (channel) fix = set_user + " &" + facts.prefix + '*';
    found.push_back({"denied_" + refusal.command,
                     Severity::danger,
                     facts.node + " does not let the user '" + facts.user +
                         "' do what locks need: " + refusal.command + ": " + refusal.reason,
                     std::move(fix)});
  }
  if (facts.hears_messages == false) {
    found.push_back({"no_messages",
                     Severity::warning,
                     facts.node + " does not let the user '" + facts.user +
                         "' hear messages: who waits learns late that the lock is free",
                     set_user + " +subscribe +unsubscribe &" + facts.prefix + '*'});
  }
  if (facts.info.empty() || facts.config.empty()) {
    const bool both = facts.info.empty() && facts.config.empty();
    const std::string what = both                 ? "INFO and CONFIG GET"
                             : facts.info.empty() ? "INFO"
                                                  : "CONFIG GET";
    found.push_back({"not_examined",
                     Severity::warning,
                     facts.node + " does not let the user '" + facts.user + "' ask by " + what +
                         ": how safe it keeps locks is not known",
                     "run doctor as a user with: +info +config|get"});
  }
  return found;
}

Findings network_findings(const NodeFacts& facts) {
  Findings found;
  if (!facts.path.stays_here && !facts.path.encrypted) {
    found.push_back({"not_encrypted",
                     Severity::warning,
                     "the way to " + facts.node +
                         " is not encrypted: others on it can read passwords "
                         "and take or release locks",
                     "use rediss://, and tls-port in the server's configuration"});
  }
  if (!facts.path.stays_here && !facts.path.authenticated) {
    found.push_back({"no_password",
                     Severity::warning,
                     facts.node + " lets in everybody who can reach it",
                     "requirepass or ACL SETUSER, and the user in the URL"});
  }
  if (facts.round_trip > kRoundTripMax) {
    found.push_back({"slow",
                     Severity::warning,
                     facts.node + " takes " + millis(facts.round_trip) +
                         " to answer: short leases may end before they are renewed",
                     "a TTL of at least " + std::to_string(100 * facts.round_trip / 1s) +
                         " s, or a server that is nearer"});
  }
  if (const auto idle = facts.config_number("timeout"); idle > 0) {
    found.push_back({"cuts_idle_connections",
                     Severity::warning,
                     facts.node + " closes connections that are silent for " +
                         std::to_string(idle) + " s: the next lock then waits for a new one",
                     "CONFIG SET timeout 0"});
  }
  if (facts.config_of("tcp-keepalive") == "0") {
    found.push_back({"no_keepalive",
                     Severity::warning,
                     facts.node + " never notices connections of machines that are gone",
                     "CONFIG SET tcp-keepalive 300"});
  }
  return found;
}

Findings clock_findings(const NodeFacts& facts) {
  const Duration apart = size_of(facts.clock_ahead) - facts.clock_error;
  if (apart < kClockMax) return {};
  const std::string direction = facts.clock_ahead > 0ns ? " ahead of" : " behind";
  return {
      {"clock_apart",
       Severity::warning,
       "the clock of " + facts.node + " is at least " + millis(apart) + direction +
           " this machine's: one of them is not kept, and a step of the server's ends leases early",
       "keep both by NTP, for example: systemctl enable --now chrony"}};
}

Findings version_findings(const NodeFacts& facts) {
  const std::string version{facts.info_of("redis_version")};
  if (version.empty()) return {};
  const std::int64_t major = std::atoll(version.c_str());
  const auto dot = version.find('.');
  const std::int64_t minor = dot == std::string::npos ? 0 : std::atoll(&version[dot + 1]);
  if (major > 6 || (major == 6 && minor >= 2)) return {};
  // Before 5 a script could not write after it had looked at the clock.
  return {{"version_old",
           major < 5 ? Severity::danger : Severity::warning,
           facts.node + " is Redis " + version +
               (major < 5 ? ", whose scripts cannot make tokens"
                          : ", which is not maintained any more"),
           "Redis 6.2 or later"}};
}

Findings findings_of(const NodeFacts& facts, Trust trust) {
  Findings found;
  for (Findings part : {persistence_findings(facts, trust),
                        memory_findings(facts),
                        replication_findings(facts, trust),
                        rights_findings(facts),
                        network_findings(facts),
                        clock_findings(facts),
                        version_findings(facts)}) {
    std::ranges::move(part, std::back_inserter(found));
  }
  return found;
}

}  // namespace holdfast::redis
