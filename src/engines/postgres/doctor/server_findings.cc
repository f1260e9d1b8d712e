#include "engines/postgres/doctor/server_findings.h"

#include <iterator>
#include <string>
#include <utility>

#include "base/decimal.h"
#include "engines/postgres/schema/schema.h"

namespace holdfast::postgres {
namespace {

using core::Findings;
using core::Severity;
using namespace std::chrono_literals;

/// Since this version pg_locks tells since when somebody waits, and idle sessions can be ended.
constexpr std::int64_t kVersionMin = 140'000;
constexpr Duration kRoundTripMax = 50ms;
constexpr Millis kClockMax{2000};
/// What a statement may take on a server that is busy, or wait for those before it.
constexpr std::int64_t kPatienceMs = 1000;
/// Connections that a few processes need.
constexpr std::int64_t kFreeMin = 10;

std::int64_t number(const ServerFacts& facts, const std::string& name) {
  return parse_decimal<std::int64_t>(facts.setting(name)).value_or(0);
}

bool is_off(const ServerFacts& facts, const std::string& name) {
  return facts.setting(name) == "off";
}

std::string alter(const std::string& setting) {
  return "ALTER SYSTEM SET " + setting + "; SELECT pg_reload_conf()";
}

std::string for_role(const ServerFacts& facts, const std::string& setting) {
  return "ALTER ROLE \"" + facts.role + "\" SET " + setting;
}

/// Whether a commit that was answered is at a replica as well.
bool waits_for_replica(const ServerFacts& facts) {
  const std::string commit = facts.setting("synchronous_commit");
  return !facts.setting("synchronous_standby_names").empty() && commit != "local";
}

void add(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Findings failover_findings(const ServerFacts& facts) {
  Findings found;
  if (facts.usage == Usage::advisory) {
    if (facts.replicas > 0) {
      found.push_back({"failover_loses_locks",
                       Severity::warning,
                       facts.server + " has replicas, and advisory locks are not replicated: after "
                                      "a failover all of them are free while their holders may "
                                      "still act",
                       "check tokens where you write, or use mode=lease"});
    }
    return found;
  }
  if (facts.replicas > 0 && !waits_for_replica(facts)) {
    found.push_back({"failover_window",
                     Severity::warning,
                     facts.server + " answers before a replica has it: a failover forgets the last "
                                    "leases and marks, and two may then hold the same lock; tokens "
                                    "still rise",
                     alter("synchronous_standby_names = 'ANY 1 (*)'") +
                         "; synchronous_commit = on; promote only a synchronous replica"});
  }
  return found;
}

Findings schema_findings(const ServerFacts& facts) {
  switch (facts.schema) {
    case SchemaState::usable:
      return {};
    case SchemaState::missing:
      if (facts.may_create_schema) return {};
      return {{"no_schema",
               Severity::danger,
               facts.server + " has no schema holdfast in this database, and the role " +
                   facts.role + " may not make it: there are no locks",
               "an administrator runs `holdfast install postgres URL --role " + facts.role + '`'}};
    case SchemaState::denied:
      return {{"denied",
               Severity::danger,
               "the role " + facts.role + " may not use the schema holdfast: there are no locks",
               "its owner runs `holdfast install postgres URL --role " + facts.role + '`'}};
    case SchemaState::older:
    case SchemaState::newer:
      break;
  }
  const bool older = facts.schema == SchemaState::older;
  return {{"schema_version",
           Severity::danger,
           "the schema holdfast is of version " + std::to_string(facts.schema_version) +
               ", and this program needs version " + std::to_string(kSchemaVersion),
           older ? "its owner runs `holdfast install postgres URL`" : "use a newer Holdfast"}};
}

Findings pooler_findings(const ServerFacts& facts) {
  if (!facts.pooled) return {};
  if (facts.usage == Usage::advisory) {
    return {{"pooler",
             Severity::danger,
             "there is a pooler in front of " + facts.server +
                 ": it gives a session to others with the advisory locks it holds, and takes them "
                 "from their holder without a word",
             "connect to the server itself, or use mode=lease"}};
  }
  return {{"no_listen",
           Severity::warning,
           "there is a pooler in front of " + facts.server +
               ", through which nobody can be told that a lock is free: who waits asks again and "
               "again, and learns of it later",
           "add listen=postgres://… with the address of the server itself to the URL"}};
}

Findings timeout_findings(const ServerFacts& facts) {
  Findings found;
  if (number(facts, "idle_session_timeout") > 0 && facts.pooled) {
    found.push_back({"cuts_idle_sessions",
                     Severity::warning,
                     facts.server + " ends sessions that are silent for " +
                         facts.setting("idle_session_timeout") +
                         " ms: the next lock then waits for a new one",
                     for_role(facts, "idle_session_timeout = 0")});
  }
  if (number(facts, "idle_in_transaction_session_timeout") == 0) {
    found.push_back({"no_idle_in_transaction_timeout",
                     Severity::warning,
                     facts.server + " lets a transaction stand open for ever: a program that hangs "
                                    "in one keeps its row locks, its advisory locks and every "
                                    "fence it has checked",
                     alter("idle_in_transaction_session_timeout = '5min'")});
  }
  return found;
}

/// Of the role, for statements of any program.
Findings statement_findings(const ServerFacts& facts) {
  Findings found;
  for (const std::string name : {"statement_timeout", "lock_timeout"}) {
    const std::int64_t limit = number(facts, name);
    if (limit == 0 || limit >= kPatienceMs) continue;
    found.push_back({"short_" + name,
                     Severity::warning,
                     facts.server + " ends statements of the role " + facts.role + " after " +
                         std::to_string(limit) +
                         " ms: when it is busy, locks are refused that could be had, and leases "
                         "are not renewed",
                     for_role(facts, name + " = 0")});
  }
  const std::string isolation = facts.setting("default_transaction_isolation");
  if (facts.usage == Usage::lease && !isolation.empty() && isolation != "read committed") {
    found.push_back({"isolation",
                     Severity::danger,
                     facts.server + " begins transactions of the role " + facts.role + " as " +
                         isolation + ", in which leases are refused",
                     for_role(facts, "default_transaction_isolation = 'read committed'")});
  }
  return found;
}

Findings silence_findings(const ServerFacts& facts) {
  const bool by_default =
      number(facts, "tcp_keepalives_idle") == 0 || number(facts, "tcp_keepalives_idle") > 600;
  if (facts.stays_here || !by_default || number(facts, "tcp_user_timeout") > 0) return {};
  return {{"no_keepalive",
           Severity::warning,
           facts.server + " notices after hours that a client's machine has vanished: until then "
                          "its transactions keep their locks and fences",
           alter("tcp_keepalives_idle = 60") +
               "; and tcp_keepalives_interval = 10, tcp_keepalives_count = 3, "
               "tcp_user_timeout = 90000"}};
}

}  // namespace

Findings server_findings(const ServerFacts& facts) {
  Findings found;
  if (facts.in_recovery) {
    found.push_back({"replica",
                     Severity::danger,
                     facts.server + " is a replica: it takes no locks",
                     "name all servers in the URL and add target_session_attrs=read-write"});
  }
  if (!facts.in_recovery && facts.setting("default_transaction_read_only") == "on") {
    found.push_back({"read_only",
                     Severity::danger,
                     facts.server + " refuses changes to the role " + facts.role,
                     for_role(facts, "default_transaction_read_only = off")});
  }
  const std::int64_t version = number(facts, "server_version_num");
  if (version > 0 && version < kVersionMin) {
    found.push_back({"old_server",
                     Severity::danger,
                     facts.server + " runs PostgreSQL " + facts.setting("server_version") +
                         ", which lacks what locks need",
                     "PostgreSQL 14 or newer"});
  }
  if (is_off(facts, "autovacuum")) {
    found.push_back({"no_autovacuum",
                     Severity::warning,
                     facts.server + " does not clean up after changes: every lock makes its tables "
                                    "larger and slower",
                     alter("autovacuum = on")});
  }
  const std::int64_t limit = number(facts, "max_connections");
  if (limit > 0 && facts.connections + kFreeMin > limit) {
    found.push_back({"few_connections",
                     Severity::warning,
                     facts.server + " has " + std::to_string(facts.connections) + " of at most " +
                         std::to_string(limit) + " connections: who comes next is refused",
                     "raise max_connections, or put PgBouncer in between with mode=lease"});
  }
  return found;
}

Findings durability_findings(const ServerFacts& facts) {
  Findings found;
  if (is_off(facts, "fsync")) {
    found.push_back({"no_fsync",
                     Severity::danger,
                     facts.server + " does not wait for its disk: a crash of its machine forgets "
                                    "leases and marks or destroys the database, and two may then "
                                    "hold the same lock",
                     alter("fsync = on")});
  }
  if (is_off(facts, "full_page_writes")) {
    found.push_back({"no_full_page_writes",
                     Severity::danger,
                     facts.server + " may come back from a crash with torn pages, and with them "
                                    "leases and marks that are wrong",
                     alter("full_page_writes = on")});
  }
  if (is_off(facts, "synchronous_commit")) {
    found.push_back({"synchronous_commit",
                     Severity::warning,
                     facts.server +
                         " answers before the disk has it. Leases and the fence wait all "
                         "the same, at the price of speed; what your own transactions "
                         "change without them may be lost in a crash",
                     for_role(facts, "synchronous_commit = on")});
  }
  add(found, failover_findings(facts));
  return found;
}

Findings connection_findings(const ServerFacts& facts) {
  Findings found = pooler_findings(facts);
  add(found, timeout_findings(facts));
  add(found, statement_findings(facts));
  add(found, silence_findings(facts));
  if (facts.round_trip > kRoundTripMax) {
    const auto millis = std::chrono::duration_cast<Millis>(facts.round_trip).count();
    found.push_back({"slow",
                     Severity::warning,
                     facts.server + " takes " + std::to_string(millis) +
                         " ms to answer: short leases may end before they are renewed",
                     "a TTL of at least " + std::to_string(millis / 10 + 1) + " s"});
  }
  if (facts.clock_ahead && (*facts.clock_ahead > kClockMax || *facts.clock_ahead < -kClockMax)) {
    found.push_back({"clock",
                     Severity::warning,
                     "the clock of " + facts.server + " is " +
                         std::to_string(facts.clock_ahead->count()) +
                         " ms ahead of this machine's: leases count by one clock and are safe, but "
                         "a clock that is set back or forth ends them late or early",
                     "run chrony or ntpd on both"});
  }
  return found;
}

Findings rights_findings(const ServerFacts& facts) {
  Findings found = facts.in_recovery ? Findings{} : schema_findings(facts);
  if (facts.superuser) {
    found.push_back({"superuser",
                     Severity::warning,
                     "the role " + facts.role +
                         " may do everything: a mistake of the program is a "
                         "mistake of an administrator",
                     "CREATE ROLE app LOGIN PASSWORD '…', then `holdfast install postgres URL "
                     "--role app`"});
  }
  if (!facts.encrypted && !facts.stays_here) {
    found.push_back({"not_encrypted",
                     Severity::warning,
                     "the way to " + facts.server +
                         " is not encrypted: others on it can read passwords and take or release "
                         "locks",
                     "add sslmode=verify-full and sslrootcert=… to the URL"});
  }
  return found;
}

Findings findings_of(const ServerFacts& facts) {
  Findings found = server_findings(facts);
  add(found, durability_findings(facts));
  add(found, connection_findings(facts));
  add(found, rights_findings(facts));
  return found;
}

}  // namespace holdfast::postgres
