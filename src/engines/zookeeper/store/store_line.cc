#include "engines/zookeeper/store/store_line.h"

#include <optional>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// It holds nothing that should go soon, and survives an election.
constexpr Millis kSessionTimeout{30'000};

}  // namespace

std::shared_ptr<StoreLine> StoreLine::create(Env& env, std::shared_ptr<ZookeeperPort> port) {
  const std::shared_ptr<StoreLine> line{new StoreLine{std::move(port)}};
  // A store is let go by any thread, a session only by the Env's.
  env.post([&env, line] {
    constexpr std::chrono::hours kCentury{24 * 365 * 100};
    env.park(env.now() + kCentury, Parked{Work{[line] {}}});
  });
  return line;
}

StoreLine::~StoreLine() { rest(); }

void StoreLine::rest() {
  if (session_ && !state_->over) session_->close();
  session_.reset();
}

ZookeeperSession* StoreLine::session() {
  if (session_ && !state_->over) return session_.get();
  session_.reset();
  state_ = std::make_shared<State>();
  ++generation_;
  session_ = port_->open({.timeout = kSessionTimeout},
                         [state = std::weak_ptr{state_}](const SessionEvent& event) {
                           const auto told = state.lock();
                           if (!told) return;
                           const bool refused = event.kind == SessionEvent::Kind::refused;
                           if (refused) told->refused = event.error;
                           if (refused || event.kind == SessionEvent::Kind::expired) {
                             told->over = true;
                           }
                         });
  return session_.get();
}

Task<Result<std::vector<Answer>>> StoreLine::ask_all(const std::vector<SharedRequest>& requests,
                                                     TimePoint answer_by) {
  struct Answers {
    std::vector<Answer> told;
    std::optional<Error> failure;
  };
  const auto answers = std::make_shared<Answers>();
  ZookeeperSession* const line = session();
  const auto state = state_;
  for (std::size_t i = 0; i + 1 < requests.size(); ++i) {
    line->send(requests[i], answer_by, [answers](Result<Answer> answer) {
      if (answer) {
        answers->told.push_back(*std::move(answer));
      } else if (!answers->failure) {
        answers->failure = std::move(answer).error();
      }
    });
  }
  auto last = co_await line->answered(requests.back(), answer_by);
  if (!last && !answers->failure) answers->failure = std::move(last).error();
  // Why nobody serves the session says more than that it is over.
  const bool was_refused = state->over && state->refused.code != Errc{};
  if (answers->failure && was_refused) answers->failure = state->refused;
  if (answers->failure) co_return Unexpected{*answers->failure};
  answers->told.push_back(*std::move(last));
  co_return std::move(answers->told);
}

Task<Result<Answer>> StoreLine::ask(const SharedRequest& request, TimePoint answer_by) {
  const std::vector<SharedRequest> requests{request};
  auto answers = co_await ask_all(requests, answer_by);
  if (!answers) co_return Unexpected{std::move(answers).error()};
  co_return std::move(answers->front());
}

}  // namespace holdfast::zookeeper
