#include "engines/zookeeper/desk_reach.h"

#include <algorithm>
#include <utility>

#include "base/alarm.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

// Long enough for the session to be there when the next question comes.
constexpr Millis kDeskTtl = 10s;

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

DeskReach::DeskReach(Env& env_in, std::shared_ptr<ZookeeperPort> port, Settings settings_in)
    : env{env_in},
      nodes{settings_in.prefix},
      settings{std::move(settings_in)},
      sessions{std::make_shared<Sessions>(env_in,
                                          std::move(port),
                                          Sessions::Terms{.timeout = settings.timeout,
                                                          .patience = settings.patience,
                                                          .idle = settings.idle,
                                                          .retry = settings.retry},
                                          nullptr)} {}

Task<Result<SessionUse>> DeskReach::enter(TimePoint answer_by) const {
  for (;;) {
    auto use = co_await sessions->enter(kDeskTtl, LeaseKind::session, answer_by);
    if (!use) co_return Unexpected{use.error()};
    const auto line = (*use)->line;
    const SharedRequest sync = share(Sync{});
    const auto synced = co_await line->answered(sync, answer_by);
    if (synced) co_return *std::move(use);
    const bool over = synced.error().code == Errc::lost;
    if (over) sessions->end(use->session(), LossReason::gone);
    const bool again = over || synced.error().code == Errc::unknown_outcome;
    if (!again || env.now() >= answer_by) {
      // It changes nothing: whether it ran makes no difference.
      co_return Unexpected{Error{Errc::unavailable, synced.error().message}};
    }
  }
}

Task<Result<std::vector<Answer>>> DeskReach::ask_all(SessionLine& line,
                                                     std::vector<SharedRequest> requests,
                                                     TimePoint answer_by) const {
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

Task<Result<Lineup>> DeskReach::look_at(SessionLine& line,
                                        LockName name,
                                        TimePoint answer_by) const {
  const auto lock = nodes.lock(name);
  if (!lock) co_return Unexpected{lock.error()};
  std::vector<LockName> names(1, name);
  auto lineups = co_await look_at_all(line, std::move(names), answer_by);
  if (!lineups) co_return Unexpected{lineups.error()};
  if (lineups->empty()) co_return line_up(name, {});
  co_return std::move(lineups->front());
}

Task<Result<std::vector<Lineup>>> DeskReach::look_at_all(SessionLine& line,
                                                         std::vector<LockName> names,
                                                         TimePoint answer_by) const {
  std::vector<SharedRequest> lists;
  for (const LockName& name : names) lists.push_back(share(List{.path = *nodes.lock(name)}));
  const auto listed = co_await ask_all(line, std::move(lists), answer_by);
  if (!listed) co_return Unexpected{listed.error()};
  std::vector<std::vector<Child>> queues;
  std::vector<SharedRequest> reads;
  for (std::size_t i = 0; i < names.size(); ++i) {
    queues.push_back(in_order((*listed)[i].children));
    const std::string lock = *nodes.lock(names[i]);
    for (const Child& child : queues.back()) {
      reads.push_back(share(Read{.path = lock + '/' + child.name}));
    }
  }
  const auto found = co_await ask_all(line, std::move(reads), answer_by);
  if (!found) co_return Unexpected{found.error()};
  std::vector<Lineup> lineups;
  std::size_t next = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<Known> known;
    for (Child& child : queues[i]) {
      const Answer& answer = (*found)[next++];
      // Gone by now.
      if (answer.verdict != Verdict::done) continue;
      known.push_back(
          {.child = std::move(child), .entrant = read_entrant(answer.data), .stat = answer.stat});
    }
    if (!known.empty()) lineups.push_back(line_up(names[i], std::move(known)));
  }
  co_return lineups;
}

}  // namespace holdfast::zookeeper
