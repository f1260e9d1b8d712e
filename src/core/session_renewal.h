// The renewal of locks that stand as long as their sessions do: each session once.

#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/env.h"
#include "core/renewer.h"

namespace holdfast::core {

/// As Renewer::renew(), for locks of `holdings` (a SessionHoldings) and sessions of `sessions` (a
/// KeptSessions), both of which outlive it. One request waits for its answer no longer than
/// `timeout`.
template <class Holdings, class Sessions>
Task<Result<std::vector<Fate>>> renew_sessions(Env& env,
                                               Holdings& holdings,
                                               Sessions& sessions,
                                               std::vector<HeldLease> leases,
                                               Duration timeout,
                                               TimePoint answer_by) {
  struct Renewed {
    typename Sessions::SharedSession session;
    Result<void> result{};
  };
  std::vector<Renewed> renewed;
  const auto find = [&](const auto* own) -> const Renewed* {
    if (own == nullptr) return nullptr;
    const auto found = std::ranges::find(renewed, own->use.session(), &Renewed::session);
    return found == renewed.end() ? nullptr : &*found;
  };
  for (const HeldLease& lease : leases) {
    const auto* const own = holdings.find(lease.owner);
    if (own != nullptr && find(own) == nullptr) renewed.push_back({own->use.session()});
  }
  std::size_t answered = 0;
  Error failure{};
  for (auto& [session, result] : renewed) {
    result = co_await sessions.renew(session, std::min(answer_by, env.now() + timeout));
    if (result) ++answered;
    if (!result) failure = result.error();
  }
  if (!renewed.empty() && answered == 0) co_return Unexpected{failure};
  std::vector<Fate> fates;
  for (const HeldLease& lease : leases) {
    const auto* const own = holdings.find(lease.owner);
    const Renewed* const session = find(own);
    if (session == nullptr) {
      fates.push_back(Fate::gone);
    } else if (!session->result) {
      fates.push_back(Fate::unknown);
    } else {
      fates.push_back(Fate::renewed);
      if (!own->listening) holdings.attend(lease.owner);
    }
  }
  co_return fates;
}

}  // namespace holdfast::core
