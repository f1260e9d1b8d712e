#include "engines/zookeeper/desk_reach.h"

#include <algorithm>
#include <utility>

#include "engines/zookeeper/ask_all.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

// Long enough for the session to be there when the next question comes.
constexpr Millis kDeskTtl = 10s;

}  // namespace

DeskReach::DeskReach(Env& env_in, std::shared_ptr<ZookeeperPort> port, Settings settings_in)
    : env{env_in},
      nodes{settings_in.prefix},
      settings{std::move(settings_in)},
      sessions{std::make_shared<Sessions>(env_in,
                                          std::move(port),
                                          core::SessionTerms{.timeout = settings.timeout,
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
  const auto listed = co_await ask_all(env, line, std::move(lists), answer_by);
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
  const auto found = co_await ask_all(env, line, std::move(reads), answer_by);
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
    // Numbers that do not rise any more tell nothing.
    std::ranges::sort(known, {}, [](const Known& one) { return one.stat.created; });
    if (!known.empty()) lineups.push_back(line_up(names[i], std::move(known)));
  }
  co_return lineups;
}

}  // namespace holdfast::zookeeper
