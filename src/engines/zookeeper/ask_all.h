// Many requests of one session, under way together.

#pragma once

#include <vector>

#include "base/env.h"
#include "engines/zookeeper/session_line.h"

namespace holdfast::zookeeper {

/// One answer for each request, in their order. Fails with the first that fails. Of requests that
/// change nothing: whether one ran makes no difference, so that there is no unknown_outcome.
Task<Result<std::vector<Answer>>> ask_all(Env& env,
                                          SessionLine& line,
                                          std::vector<SharedRequest> requests,
                                          TimePoint answer_by);

}  // namespace holdfast::zookeeper
