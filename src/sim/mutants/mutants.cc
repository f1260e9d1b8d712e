#include <iterator>
#include <utility>
#include <vector>

#include "engines/redis/redis_scripts.h"
#include "engines/redlock/redlock_scripts.h"
#include "sim/mutants/mutant.h"
#include "sim/mutants/mutant_engines.h"
#include "sim/mutants/mutant_etcd.h"
#include "sim/mutants/mutant_postgres.h"
#include "sim/mutants/mutant_scripts.h"
#include "sim/mutants/mutant_zookeeper.h"
#include "sim/redis/script_swap.h"

namespace holdfast::sim {
namespace {

Ports swapped(Ports ports, const std::vector<Swap>& swaps) {
  for (auto& port : ports.redis) port = std::make_shared<ScriptSwap>(std::move(port), swaps);
  return ports;
}

template <const redis::Script* Asked, const redis::Script* Run>
Engine redis_running(Env& env, Ports ports, const Pace& pace) {
  return plain_engine("redis", env, swapped(std::move(ports), {{Asked, Run}}), pace);
}

template <class Scripts>
Engine redis_with(Env& env, Ports ports, const Pace& pace) {
  const std::vector<Swap> swaps{{&redis::kAcquireScript, &Scripts::acquire},
                                {&redis::kRefreshScript, &Scripts::refresh},
                                {&redis::kReleaseScript, &Scripts::release}};
  return plain_engine("redis", env, swapped(std::move(ports), swaps), pace);
}

template <const redis::Script* Asked, const redis::Script* Run>
Engine redlock_running(Env& env, Ports ports, const Pace& pace) {
  return plain_engine("redlock", env, swapped(std::move(ports), {{Asked, Run}}), pace);
}

template <Engine (*Around)(Env&, Engine)>
Engine redis_within(Env& env, Ports ports, const Pace& pace) {
  return Around(env, plain_engine("redis", env, std::move(ports), pace));
}

template <Engine (*Around)(Env&, Engine)>
Engine redlock_within(Env& env, Ports ports, const Pace& pace) {
  return Around(env, plain_engine("redlock", env, std::move(ports), pace));
}

Engine redlock_forgetting_wakeups(Env& env, Ports ports, const Pace& pace) {
  return forgetting_wakeups("redlock", env, std::move(ports), pace);
}

Engine etcd_forgetting_wakeups(Env& env, Ports ports, const Pace& pace) {
  return forgetting_wakeups("etcd", env, std::move(ports), pace);
}

template <EtcdPortPtr (*Changed)(EtcdPortPtr)>
Engine etcd_over(Env& env, Ports ports, const Pace& pace) {
  ports.etcd = Changed(std::move(ports.etcd));
  return plain_engine("etcd", env, std::move(ports), pace);
}

Engine etcd_with_leases_as_tokens(Env& env, Ports ports, const Pace& pace) {
  const auto last = std::make_shared<std::int64_t>(0);
  ports.etcd = noting_leases(std::move(ports.etcd), last);
  return with_leases_as_tokens(env, plain_engine("etcd", env, std::move(ports), pace), last);
}

Engine etcd_counting_from_reply(Env& env, Ports ports, const Pace& pace) {
  return counting_from_reply(env, plain_engine("etcd", env, std::move(ports), pace));
}

Engine zookeeper_forgetting_wakeups(Env& env, Ports ports, const Pace& pace) {
  return forgetting_wakeups("zookeeper", env, std::move(ports), pace);
}

template <ZookeeperPortPtr (*Changed)(ZookeeperPortPtr)>
Engine zookeeper_over(Env& env, Ports ports, const Pace& pace) {
  ports.zookeeper = Changed(std::move(ports.zookeeper));
  return plain_engine("zookeeper", env, std::move(ports), pace);
}

template <Engine (*Around)(Env&, Engine)>
Engine zookeeper_within(Env& env, Ports ports, const Pace& pace) {
  return Around(env, plain_engine("zookeeper", env, std::move(ports), pace));
}

/// Every process knows one node only, and not all the same one.
Engine redlock_of_one_node(Env& env, Ports ports, const Pace& pace) {
  const std::size_t mine = env.draw() % ports.redis.size();
  Ports one{.redis = {ports.redis[mine]}};
  return plain_engine("redlock", env, std::move(one), pace);
}

using GrantEveryone =
    Changed<redis::lua::kMint, redis::lua::kPut, redis::lua::kAgain, kAskInVain, kNeverAtOnce>;
using RefuseEveryone =
    Changed<redis::lua::kMint, redis::lua::kPut, redis::lua::kAgain, kAskForNothing, kNeverAtOnce>;
using TokenFromClock = Changed<kMintFromClock>;
using TokenStandsStill = Changed<kMintTheSame>;
using TokenAnew = Changed<redis::lua::kMint, redis::lua::kPut, kAgainAnew>;
using TakeForever = Changed<redis::lua::kMint, kPutForever>;

using redis::kReleaseScript;
using redis::kRenewScript;
using redlock::kConfirmScript;
using redlock::kRemoveScript;
using redlock::kTakeScript;

// The checker that finds it out, and within how many seeds.
constexpr Mutant kMutants[] = {
    {"release-any",
     "release does not ask who holds the lock",
     "redis",
     "L1",
     300,
     &redis_running<&kReleaseScript, &kReleaseAnyScript>},
    {"renew-recreates",
     "renewal brings back a lock that is gone",
     "redis",
     "L1",
     300,
     &redis_running<&kRenewScript, &kRenewRecreatesScript>},
    {"renew-only-says",
     "renewal answers that it extended, and does not",
     "redis",
     "L1",
     300,
     &redis_running<&kRenewScript, &kRenewOnlySaysScript>},
    {"grants-everyone",
     "acquire does not look whether the lock is taken",
     "redis",
     "L1",
     20,
     &redis_with<GrantEveryone>},
    {"refuses-everyone",
     "acquire refuses a free lock",
     "redis",
     "waiter",
     5,
     &redis_with<RefuseEveryone>},
    {"token-from-clock",
     "tokens are the server's time, and no counter stands beside it",
     "redis",
     "T2",
     2'000,
     &redis_with<TokenFromClock>},
    {"token-stands-still",
     "the counter does not count",
     "redis",
     "T1",
     5,
     &redis_with<TokenStandsStill>},
    {"token-anew",
     "an owner that asks again gets another token",
     "redis",
     "T3",
     300,
     &redis_with<TokenAnew>},
    {"take-forever", "a lock has no TTL", "redis", "waiter", 300, &redis_with<TakeForever>},
    {"deadline-from-reply",
     "a lease counts from when its grant arrived",
     "redis",
     "L1",
     2'000,
     &redis_within<&counting_from_reply>},
    {"no-drift-allowance",
     "a lease lasts as long as its TTL by a clock that is never slow",
     "redis",
     "L1",
     20'000,
     &redis_within<&without_drift_allowance>},
    {"believes-in-renewal",
     "a renewal that nobody answered counts as done",
     "redis",
     "L1",
     300,
     &redis_within<&believing_in_renewal>},
    {"release-lingers",
     "release returns long after its caller wanted to be done",
     "redis",
     "V1",
     5,
     &redis_within<&lingering_in_release>},
    {"never-looks",
     "a holder does not look at its lease before it acts",
     "redis",
     "L2",
     300,
     nullptr,
     Habits::trusting},
    {"reads-unguarded",
     "a holder shows its token when it writes, and not when it reads",
     "redis",
     "G4",
     2'000,
     nullptr,
     Habits::reads_unguarded},
    {"writes-unfenced",
     "the resource is not told the token",
     "redis",
     "G4",
     2'000,
     nullptr,
     Habits::careful,
     Register::unfenced},
    {"redlock-phase-1-only",
     "a token counts without being confirmed",
     "redlock",
     "T1",
     300,
     &redlock_running<&kConfirmScript, &kConfirmBlindlyScript>},
    {"redlock-confirms-anyone",
     "a node confirms a token to an owner that does not hold the lock",
     "redlock",
     "NO_OWNER_CHECK",
     0,
     &redlock_running<&kConfirmScript, &kConfirmForAnyoneScript>},
    {"redlock-confirms-late-grant",
     "a node confirms a token below the owner's own grant",
     "redlock",
     "NO_COUNT_CHECK",
     0,
     &redlock_running<&kConfirmScript, &kConfirmLateGrantScript>},
    {"redlock-counter-expires",
     "the counter goes with the lock",
     "redlock",
     "T1",
     300,
     &redlock_running<&kTakeScript, &kTakeForgetfullyScript>},
    {"redlock-one-node",
     "every process asks one node, and not all the same one",
     "redlock",
     "L1",
     20,
     &redlock_of_one_node},
    {"redlock-release-any",
     "release does not ask who holds the lock",
     "redlock",
     "L1",
     300,
     &redlock_running<&kRemoveScript, &kReleaseAnyScript>},
    {"redlock-deadline-from-reply",
     "a lease counts from when its grant arrived",
     "redlock",
     "L1",
     20'000,
     &redlock_within<&counting_from_reply>},
    {"redlock-wake-up-forgotten",
     "a task is not told that its answer has come",
     "redlock",
     "waiter",
     20,
     &redlock_forgetting_wakeups},
    {"etcd-sees-nobody",
     "a contender does not look who came before it",
     "etcd",
     "L1",
     20,
     &etcd_over<&blind_to_others>},
    {"etcd-release-any",
     "release erases all contenders",
     "etcd",
     "L1",
     300,
     &etcd_over<&erasing_everybody>},
    {"etcd-key-without-lease",
     "a contender's key has no lease, and outlives its process",
     "etcd",
     "waiter",
     300,
     &etcd_over<&without_leases>},
    {"etcd-one-key-per-session",
     "all acquisitions of a session share one key",
     "etcd",
     "T1",
     2'000,
     &etcd_over<&one_key_per_session>},
    {"etcd-believes-in-renewal",
     "a keep-alive that nobody answered counts as done",
     "etcd",
     "L1",
     20'000,
     &etcd_over<&believing_in_keep_alives>},
    {"etcd-deadline-from-reply",
     "a lease counts from when its grant arrived",
     "etcd",
     "L1",
     300,
     &etcd_counting_from_reply},
    {"etcd-token-is-lease",
     "tokens are the numbers of leases",
     "etcd",
     "T1",
     20,
     &etcd_with_leases_as_tokens},
    {"etcd-wake-up-forgotten",
     "a task is not told that its answer has come",
     "etcd",
     "waiter",
     20,
     &etcd_forgetting_wakeups},
    {"zookeeper-sees-nobody",
     "a contender does not look who came before it",
     "zookeeper",
     "L1",
     20,
     &zookeeper_over<&blind_to_other_nodes>},
    {"zookeeper-release-any",
     "release erases the first contender, whoever that is",
     "zookeeper",
     "L1",
     300,
     &zookeeper_over<&erasing_the_first>},
    {"zookeeper-node-without-session",
     "a contender's node outlives its session",
     "zookeeper",
     "waiter",
     300,
     &zookeeper_over<&with_lasting_nodes>},
    {"zookeeper-heartbeat-is-read",
     "a heartbeat is answered by a server alone",
     "zookeeper",
     "L1",
     20'000,
     &zookeeper_over<&beating_by_reads>},
    {"zookeeper-heartbeat-is-sync",
     "a heartbeat is answered by a leader that asks nobody",
     "zookeeper",
     "SYNC",
     0,
     &zookeeper_over<&beating_by_syncs>},
    {"zookeeper-counts-from-last",
     "a lease counts from the last request that was answered",
     "zookeeper",
     "L1",
     2'000,
     &zookeeper_within<&counting_from_last>},
    {"zookeeper-deadline-from-reply",
     "a lease counts from when its grant arrived",
     "zookeeper",
     "L2",
     300,
     &zookeeper_within<&counting_from_reply>},
    {"zookeeper-token-is-number",
     "tokens are the numbers in the names of nodes",
     "zookeeper",
     "T1",
     300,
     &zookeeper_over<&taking_numbers_for_changes>},
    {"zookeeper-wake-up-forgotten",
     "a task is not told that its answer has come",
     "zookeeper",
     "waiter",
     300,
     &zookeeper_forgetting_wakeups},
};

}  // namespace

std::span<const Mutant> mutants() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> joined{std::begin(kMutants), std::end(kMutants)};
    const auto more = postgres_mutants();
    joined.insert(joined.end(), more.begin(), more.end());
    return joined;
  }();
  return all;
}

const Mutant* find_mutant(std::string_view name) {
  for (const Mutant& mutant : mutants()) {
    if (mutant.name == name) return &mutant;
  }
  return nullptr;
}

}  // namespace holdfast::sim
