// Asking all nodes the same, and going on when enough have answered.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/env.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

using Nodes = std::vector<std::shared_ptr<redis::RedisPort>>;

/// One per node; empty where none has come. What a node refused is an error here.
using Answers = std::vector<std::optional<Result<redis::Reply>>>;

/// How many nodes answered, and not by an error.
std::size_t good_answers(const Answers& answers);

/// When to go on although some nodes have not answered.
using Enough = std::function<bool(const Answers&)>;
bool a_majority(const Answers& answers);

enum class Grace : std::uint8_t {
  none,
  /// For the rest to answer too: four times as long again, and a little more.
  brief,
};

/// Asks every node, and waits for all of them; once it is enough, no longer than the grace. Ends by
/// `answer_by` or soon after.
Task<Answers> ask_nodes(Env& env,
                        Nodes nodes,
                        redis::SharedCall call,
                        TimePoint answer_by,
                        Enough enough,
                        Grace grace = Grace::brief);

/// unavailable, with what each node said: for a question that too few answered.
Error too_few_answers(const Answers& answers, const std::vector<std::string>& names);

}  // namespace holdfast::redlock
