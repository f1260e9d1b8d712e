#include "engines/zookeeper/doctor/ensemble_findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "base/decimal.h"

namespace holdfast::zookeeper {
namespace {

using core::Findings;
using core::Severity;
using namespace std::chrono_literals;

constexpr Duration kRoundTripMax = 50ms;
constexpr double kOutstandingMax = 100;
constexpr double kFsyncMillisMax = 10;
/// From here on ZooKeeper warns in its log.
constexpr double kFsyncMillisWarned = 1000;
constexpr double kConnectionsMin = 20;
/// What locks ask for when nothing else was said.
constexpr Millis kTtlUsual{30'000};
/// As ZooKeeper is delivered: two ticks of 2 s.
constexpr Millis kTtlMinUsual{4000};
/// 3.5.3 was the first release with them.
constexpr std::tuple kContainersSince{3, 5, 3};

std::string seconds(Millis time) {
  if (time % Millis{100} != Millis{0}) return std::to_string(time.count()) + " ms";
  const auto tenths = time.count() / 100;
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += '.' + std::to_string(tenths % 10);
  return text + " s";
}

std::string whole(double number) { return std::to_string(std::llround(number)); }

std::size_t voters_of(const EnsembleFacts& facts) {
  std::size_t voters = 0;
  for (const ServerFacts& server : facts.asked) {
    voters = std::max(voters, server.mode == "standalone" ? 1 : server.conf.voters());
  }
  return voters;
}

/// Whether containers are missing.
bool is_too_old(const std::string& version) {
  const std::size_t first = version.find('.');
  if (first == std::string::npos) return false;
  const std::size_t second = version.find('.', first + 1);
  const auto major = parse_decimal<int>(version.substr(0, first));
  const auto minor = parse_decimal<int>(version.substr(first + 1, second - first - 1));
  if (!major || !minor) return false;
  // What follows the third number, such as "-alpha", says nothing.
  const std::string rest = second == std::string::npos ? std::string{} : version.substr(second + 1);
  const std::string digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return std::tuple{*major, *minor, parse_decimal<int>(digits).value_or(0)} < kContainersSince;
}

Findings fsync_findings(const ServerFacts& server) {
  Findings found;
  const auto count = server.monitor.number("zk_cnt_fsynctime");
  const double written = server.monitor.number("zk_cnt_updatelatency").value_or(0);
  if (count == 0.0 && written > 0) {
    found.push_back({"no_fsync",
                     Severity::danger,
                     server.endpoint + " does not wait for its disk: what it has promised is lost "
                                       "when its machine crashes, and two may then hold the same "
                                       "lock",
                     "remove forceSync=no from zoo.cfg and -Dzookeeper.forceSync=no from the JVM"});
  }
  const double average = server.monitor.number("zk_avg_fsynctime").value_or(0);
  const double longest = server.monitor.number("zk_max_fsynctime").value_or(0);
  if (average > kFsyncMillisMax || longest > kFsyncMillisWarned) {
    found.push_back({"slow_disk",
                     Severity::warning,
                     server.endpoint + " waits " + whole(average) + " ms for its disk with a " +
                         "change, and has waited " + whole(longest) +
                         " ms: locks wait as long, and short leases may end before they are kept",
                     "a disk of its own for dataLogDir, and an SSD"});
  }
  return found;
}

}  // namespace

Findings server_findings(const EnsembleFacts& facts) {
  Findings found;
  for (const ServerFacts& server : facts.asked) {
    if (!server.silence.empty()) {
      found.push_back({"server_down",
                       Severity::warning,
                       server.endpoint + " does not answer (" + server.silence +
                           "): when one more fails, the ensemble may grant nothing",
                       "start ZooKeeper there, or replace it in every zoo.cfg"});
    } else if (server.mode.empty() && !server.words_refused) {
      found.push_back({"not_serving",
                       Severity::danger,
                       server.endpoint + " serves nobody: it has found no majority",
                       "let a majority of the servers reach each other: server.N in zoo.cfg"});
    }
    if (is_too_old(server.version)) {
      found.push_back({"too_old",
                       Severity::danger,
                       server.endpoint + " is ZooKeeper " + server.version +
                           ", which has no container nodes: no lock can be taken",
                       "ZooKeeper 3.5.3 or later"});
    }
  }
  const std::size_t voters = voters_of(facts);
  if (voters == 1) {
    found.push_back({"one_server",
                     Severity::warning,
                     "the ensemble is one server: while it is down nobody gets a lock, and with "
                     "its disk go all locks and tokens",
                     "three servers: server.1, server.2 and server.3 in zoo.cfg"});
  } else if (voters > 0 && voters % 2 == 0) {
    found.push_back({"even_servers",
                     Severity::warning,
                     "the ensemble has " + std::to_string(voters) +
                         " servers: it survives no more failures than with one less",
                     "an odd number of server.N in zoo.cfg"});
  }
  if (voters > 1 && facts.asked.size() == 1) {
    found.push_back({"one_endpoint",
                     Severity::warning,
                     "the URL names one of " + std::to_string(voters) +
                         " servers: while that is down, locks are out of reach",
                     "name them all: zookeeper://a,b,c"});
  }
  return found;
}

Findings load_findings(const EnsembleFacts& facts) {
  Findings found;
  if (facts.round_trip > kRoundTripMax) {
    const auto taken = std::chrono::ceil<Millis>(facts.round_trip);
    const Millis least = std::max(taken * 100, kTtlMinUsual);
    found.push_back(
        {"slow",
         Severity::warning,
         "the ensemble takes " + std::to_string(taken.count()) +
             " ms to agree: short leases may end before they are kept",
         "a TTL of at least " + seconds(least) + ", faster disks, or servers that are nearer"});
  }
  for (const ServerFacts& server : facts.asked) {
    const double waiting = server.monitor.number("zk_outstanding_requests").value_or(0);
    if (waiting > kOutstandingMax) {
      found.push_back({"overloaded",
                       Severity::warning,
                       server.endpoint + " has " + whole(waiting) +
                           " requests that wait: what keeps leases waits with them",
                       "fewer clients per server, a faster disk, or more memory: -Xmx"});
    }
    std::ranges::move(fsync_findings(server), std::back_inserter(found));
    const double connections = server.conf.number("maxClientCnxns").value_or(0);
    if (connections > 0 && connections < kConnectionsMin) {
      found.push_back({"few_connections",
                       Severity::warning,
                       server.endpoint + " takes " + whole(connections) +
                           " connections of one address: a process with locks and a store has "
                           "two or more, and the next one is refused",
                       "maxClientCnxns=0 or a few hundred in zoo.cfg"});
    }
  }
  return found;
}

Findings ttl_findings(const EnsembleFacts& facts) {
  Findings found;
  const std::string asked =
      facts.ttl_asked ? "a TTL of " + seconds(*facts.ttl_asked) + " to " : std::string{};
  if (facts.ttl_min > facts.ttl_asked.value_or(kTtlMinUsual)) {
    found.push_back(
        {"ttl_raised",
         Severity::warning,
         "the ensemble raises " + (asked.empty() ? "every TTL to at least " : asked) +
             seconds(facts.ttl_min) +
             ": so long others wait when a holder vanishes, whatever it asked for",
         "ask for TTLs of " + seconds(facts.ttl_min) +
             " and more, or lower tickTime: minSessionTimeout is two of it unless it is "
             "set"});
  }
  for (const ServerFacts& server : facts.asked) {
    const double tick = server.conf.number("tickTime").value_or(0);
    if (server.conf.number("minSessionTimeout").value_or(2 * tick) >= 2 * tick) continue;
    found.push_back({"less_than_two_ticks",
                     Severity::danger,
                     server.endpoint +
                         " grants sessions of less than two ticks: its leader may not "
                         "hear of them in time, and end them before their holders "
                         "know",
                     "minSessionTimeout=" + whole(2 * tick) + " in zoo.cfg, or none"});
  }
  if (facts.ttl_max > Millis{0} && facts.ttl_max < facts.ttl_asked.value_or(kTtlUsual)) {
    found.push_back({"ttl_lowered",
                     Severity::warning,
                     "the ensemble lowers " + (asked.empty() ? "every TTL to at most " : asked) +
                         seconds(facts.ttl_max) +
                         (asked.empty() ? ", less than the usual 30 s" : "") +
                         ": holders lose their locks that much earlier "
                         "when they are held up",
                     "raise maxSessionTimeout, which is twenty of tickTime unless it is set"});
  }
  return found;
}

Findings rights_findings(const EnsembleFacts& facts) {
  Findings found;
  const std::string who = facts.user.empty() ? "this client" : "the user '" + facts.user + "'";
  const std::string node = facts.prefix.empty() ? "/" : facts.prefix;
  const std::string id = facts.user.empty() ? "world:anyone" : "auth:" + facts.user + ":PASSWORD";
  for (const NodeRefusal& refusal : facts.refusals) {
    found.push_back({"denied_" + refusal.what,
                     Severity::danger,
                     "the ensemble does not let " + who + " do what locks need: " + refusal.what +
                         ": " + refusal.reason,
                     "in zkCli.sh: setAcl -R " + node + " " + id + ":cdrwa"});
  }
  std::string silent;
  for (const ServerFacts& server : facts.asked) {
    if (server.words_refused) (silent += silent.empty() ? "" : ", ") += server.endpoint;
  }
  if (!silent.empty()) {
    found.push_back({"not_examined",
                     Severity::warning,
                     silent + " refuses four-letter words: its mode, its disk, how many requests "
                              "wait and how many servers there are is not known",
                     "4lw.commands.whitelist=srvr,conf,mntr in zoo.cfg"});
  }
  return found;
}

Findings network_findings(const EnsembleFacts& facts) {
  Findings found;
  if (facts.path.stays_here) return found;
  found.push_back({"not_encrypted",
                   Severity::warning,
                   "the way to the ensemble is not encrypted: others on it can read passwords and "
                   "take or release locks",
                   "a network of its own, or a tunnel: the client library has no TLS"});
  if (!facts.path.authenticated) {
    found.push_back({"no_password",
                     Severity::warning,
                     "the ensemble lets in everybody who can reach it",
                     "a user in the URL, zookeeper://user@…, with acl=creator"});
  } else if (facts.path.open_nodes) {
    found.push_back({"open_to_all",
                     Severity::warning,
                     "everybody who reaches the ensemble may delete the nodes of our locks",
                     "acl=creator in the URL"});
  }
  return found;
}

Findings findings_of(const EnsembleFacts& facts) {
  Findings found;
  for (Findings part : {server_findings(facts),
                        load_findings(facts),
                        ttl_findings(facts),
                        rights_findings(facts),
                        network_findings(facts)}) {
    std::ranges::move(part, std::back_inserter(found));
  }
  return found;
}

}  // namespace holdfast::zookeeper
