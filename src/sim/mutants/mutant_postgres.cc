#include "sim/mutants/mutant_postgres.h"

#include <utility>

#include "sim/mutants/mutant_engines.h"

namespace holdfast::sim {
namespace {

template <Engine (*Around)(Env&, Engine)>
Engine within(Env& env, Ports ports, const Pace& pace) {
  return Around(env, plain_engine("postgres", env, std::move(ports), pace));
}

constexpr Mutant around(std::string_view name,
                        std::string_view summary,
                        std::string_view checker,
                        std::uint64_t seeds,
                        decltype(Mutant::make) make) {
  return {name, summary, "postgres", checker, seeds, make};
}

template <Slip kSlip>
void let_slip(Servers& servers) {
  servers.postgres->set_slip(kSlip);
}

/// The functions of the schema make this mistake.
template <Slip kSlip>
constexpr Mutant slipping(std::string_view name,
                          std::string_view summary,
                          std::string_view checker,
                          std::uint64_t seeds) {
  Mutant mutant = around(name, summary, checker, seeds, nullptr);
  mutant.prepare = &let_slip<kSlip>;
  return mutant;
}

// The checker that finds it out, and within how many seeds.
constexpr Mutant kMutants[] = {
    slipping<Slip::holders_unseen>(
        "postgres-sees-nobody", "a lock is given whoever holds it", "L1", 20),
    slipping<Slip::release_any>(
        "postgres-release-any", "a release ends every lease of the name", "L1", 300),
    slipping<Slip::renewal_revives>(
        "postgres-renewal-revives", "renewal brings back a lease that is over", "L1", 300),
    slipping<Slip::renewal_only_says>(
        "postgres-renewal-only-says", "renewal answers that it extended, and does not", "L1", 300),
    slipping<Slip::expiry_unseen>(
        "postgres-expiry-unseen", "a lease that is over is taken for one", "waiter", 300),
    slipping<Slip::tokens_cached>(
        "postgres-sequence-cached",
        "the sequence has a cache, and numbers come in another order than grants",
        "T2",
        300),
    slipping<Slip::timeline_forgotten>("postgres-timeline-forgotten",
                                       "tokens are numbers of the sequence, in whatever timeline",
                                       "T1",
                                       300),
    slipping<Slip::token_anew>(
        "postgres-token-anew", "an owner that asks again gets another token", "T3", 300),
    slipping<Slip::whole_ttl_left>(
        "postgres-whole-ttl-left",
        "a lease that was handed over counts from when its holder heard of it",
        "L1",
        2'000),
    slipping<Slip::absence_unseen>("postgres-hands-to-the-gone",
                                   "a lock is given to one who waited and is not there any more",
                                   "HAND_TO_GONE",
                                   0),
    around("postgres-deadline-from-reply",
           "a lease counts from when its grant arrived",
           "L1",
           2'000,
           &within<&counting_from_reply>),
    around("postgres-believes-in-renewal",
           "a renewal that nobody answered counts as done",
           "L1",
           300,
           &within<&believing_in_renewal>),
};

}  // namespace

std::span<const Mutant> postgres_mutants() { return kMutants; }

}  // namespace holdfast::sim
