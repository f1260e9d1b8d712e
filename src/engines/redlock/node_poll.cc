#include "engines/redlock/node_poll.h"

#include <algorithm>
#include <utility>

#include "base/alarm.h"
#include "engines/redlock/node_set.h"
#include "engines/redlock/verdict.h"

namespace holdfast::redlock {
namespace {

constexpr Duration kGraceMin = std::chrono::milliseconds{25};

struct Poll {
  Poll(Env& env, std::size_t nodes) : answers(nodes), changed{env} {}

  Answers answers;
  Alarm changed;
};

bool all_of(const Answers& answers) {
  return std::ranges::all_of(answers, [](const auto& answer) { return answer.has_value(); });
}

}  // namespace

std::size_t good_answers(const Answers& answers) {
  return static_cast<std::size_t>(std::ranges::count_if(
      answers, [](const auto& answer) { return answer && answer->has_value(); }));
}

bool a_majority(const Answers& answers) {
  return good_answers(answers) >= majority(answers.size());
}

Task<Answers> ask_nodes(Env& env,
                        Nodes nodes,
                        redis::SharedCall call,
                        TimePoint answer_by,
                        Enough enough,
                        Grace grace) {
  const auto poll = std::make_shared<Poll>(env, nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    auto on_answer = [poll, node](Result<redis::Reply> reply) {
      if (reply && reply->kind == redis::Reply::Kind::error) {
        poll->answers[node] = Unexpected{node_error(*reply)};
      } else {
        poll->answers[node] = std::move(reply);
      }
      poll->changed.ring();
    };
    nodes[node]->send(call, answer_by, std::move(on_answer));
  }
  const TimePoint asked_at = env.now();
  TimePoint until = TimePoint::max();
  while (!all_of(poll->answers)) {
    if (until == TimePoint::max() && enough(poll->answers)) {
      if (grace == Grace::none) break;
      until = env.now() + std::max<Duration>(kGraceMin, (env.now() - asked_at) * 4);
    }
    if (co_await poll->changed.wait_until(until) == Wake::due) break;
  }
  co_return poll->answers;
}

Error too_few_answers(const Answers& answers, const std::vector<std::string>& names) {
  Error error{Errc::unavailable,
              "only " + std::to_string(good_answers(answers)) + " of " +
                  std::to_string(answers.size()) + " nodes answered, and " +
                  std::to_string(majority(answers.size())) + " are needed"};
  for (std::size_t node = 0; node < answers.size(); ++node) {
    const std::string name = node < names.size() ? names[node] : std::to_string(node);
    const auto& answer = answers[node];
    if (answer && *answer) continue;
    error.nodes.push_back(
        {.node = name, .message = answer ? answer->error().message : "has not answered"});
  }
  return error;
}

}  // namespace holdfast::redlock
