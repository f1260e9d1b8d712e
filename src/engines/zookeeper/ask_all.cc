#include "engines/zookeeper/ask_all.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/alarm.h"

namespace holdfast::zookeeper {
namespace {

// So that no server has to keep more than that of ours.
constexpr std::size_t kAtOnce = 500;

/// Requests that are under way together.
struct Round {
  explicit Round(Env& env) : complete{env} {}

  std::vector<Result<Answer>> answers{};
  std::size_t under_way{0};
  Alarm complete;
};

}  // namespace

Task<Result<std::vector<Answer>>> ask_all(Env& env,
                                          SessionLine& line,
                                          std::vector<SharedRequest> requests,
                                          TimePoint answer_by) {
  std::vector<Answer> answers;
  for (std::size_t at = 0; at < requests.size(); at += kAtOnce) {
    const auto round = std::make_shared<Round>(env);
    const std::size_t end = std::min(at + kAtOnce, requests.size());
    round->under_way = end - at;
    round->answers.resize(end - at, Unexpected{Error{Errc::unavailable}});
    for (std::size_t i = at; i < end; ++i) {
      line.send(requests[i], answer_by, [round, place = i - at](Result<Answer> answer) {
        round->answers[place] = std::move(answer);
        if (--round->under_way == 0) round->complete.ring();
      });
    }
    while (round->under_way > 0) co_await round->complete.wait_until(TimePoint::max());
    for (Result<Answer>& answer : round->answers) {
      if (!answer && answer.error().code == Errc::unknown_outcome) {
        answer.error().code = Errc::unavailable;
      }
      if (!answer) co_return Unexpected{std::move(answer).error()};
      answers.push_back(*std::move(answer));
    }
  }
  co_return answers;
}

}  // namespace holdfast::zookeeper
