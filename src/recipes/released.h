// Releases a lease, or several in one object, from within a task.

#pragma once

#include <memory>

#include "base/task.h"
#include "holdfast/lease.h"
#include "recipes/gathering.h"

namespace holdfast::recipes {

/// The lease outlives the await.
template <class AnyLease>
Task<ReleaseOutcome> released(AnyLease& lease) {
  struct Told {
    Gathering gathering{1};
    ReleaseOutcome outcome{ReleaseOutcome::unknown};
  };
  const auto told = std::make_shared<Told>();
  lease.async_release([told](ReleaseOutcome outcome) {
    told->outcome = outcome;
    told->gathering.arrive();
  });
  co_await told->gathering.all_here();
  co_return told->outcome;
}

}  // namespace holdfast::recipes
