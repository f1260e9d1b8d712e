#include "engines/zookeeper/zookeeper_desk.h"

#include <algorithm>
#include <utility>

#include "base/wall_clock.h"
#include "core/holder_note.h"
#include "core/validity.h"
#include "engines/zookeeper/ask_all.h"
#include "engines/zookeeper/broken_records.h"
#include "engines/zookeeper/contenders_ear.h"
#include "engines/zookeeper/desk_reach.h"

namespace holdfast::zookeeper {
namespace {

// Of one Multi, which must not become too large for a server.
constexpr std::size_t kBreakMax = 100;

// Of ticks of up to three seconds, which ZooKeeper has unless it is told otherwise.
constexpr Millis kHalfTickMax{1500};

/// The owner's contender. Null: it has none here.
const Known* find_owner(const std::vector<Known>& contenders, const std::string& owner_fp) {
  const auto is_its = [&](const Known& known) {
    return !known.entrant.foreign && owner_fp_of(known.child.contender.id) == owner_fp;
  };
  const auto found = std::ranges::find_if(contenders, is_its);
  return found == contenders.end() ? nullptr : &*found;
}

Error not_held(const LockName& name) {
  return {Errc::lost, "that owner does not hold the lock " + name.text()};
}

/// Erases some of the holders, from `at` on, and leaves a record of each.
Multi breaking(const DeskReach& reach, const Lineup& lineup, std::size_t at, std::string_view why) {
  const std::string note = core::encode_note(core::make_note(why, {}));
  const std::string lock = *reach.nodes.lock(LockName{lineup.info.name});
  Multi multi;
  for (std::size_t i = at; i < std::min(at + kBreakMax, lineup.holders.size()); ++i) {
    const std::string record = record_name(lineup.info.holders[i].owner_fp, wall_ms());
    multi.steps.emplace_back(Erase{.path = lock + '/' + lineup.holders[i].child.name});
    multi.steps.emplace_back(
        Create{.path = reach.nodes.beside("broken") + '/' + record, .data = note});
  }
  return multi;
}

/// False: somebody came or went meanwhile, and not all were broken.
Task<Result<bool>> try_break(const DeskReach& reach,
                             SessionLine& line,
                             const Lineup& lineup,
                             std::string why,
                             TimePoint answer_by) {
  for (std::size_t at = 0; at < lineup.holders.size(); at += kBreakMax) {
    const SharedRequest multi = share(breaking(reach, lineup, at, why));
    const auto answer = co_await line.answered(multi, answer_by);
    if (!answer) co_return Unexpected{answer.error()};
    if (answer->verdict != Verdict::done) co_return false;
  }
  co_return true;
}

/// Makes room for records, and lets go of old ones.
Task<Result<void>> prepare_records(const DeskReach& reach, SessionLine& line, TimePoint answer_by) {
  const std::string records = reach.nodes.beside("broken");
  const SharedRequest list = share(List{.path = records});
  const auto listed = co_await line.answered(list, answer_by);
  if (!listed) co_return Unexpected{listed.error()};
  if (listed->verdict == Verdict::no_node) co_return co_await make_path(line, records, answer_by);
  for (const std::string& old : old_records(listed->children, wall_ms())) {
    line.send(share(Erase{.path = records + '/' + old}), answer_by, [](const Result<Answer>&) {});
  }
  co_return Result<void>{};
}

/// The session of a detached lease has nothing else to keep.
Task<void> end_session(std::shared_ptr<Sessions> sessions, SessionAsk ask, TimePoint answer_by) {
  const auto session = co_await sessions->open(std::move(ask), answer_by);
  if (session) sessions->close(*session);
}

/// Until when a session that was resumed is sure to last, perhaps with a longer TTL than before;
/// the node says with which. TimePoint::min(): the node is gone.
Task<Result<TimePoint>> settle_in(const DeskReach& reach,
                                  Session& session,
                                  std::string path,
                                  Entrant entrant,
                                  TimePoint answer_by) {
  const auto line = session.line;
  const bool longer = session.ttl() > entrant.ttl;
  // The server of its last connection may yet tell the leader of it, with the TTL it had there.
  const Duration quiet = std::min<Duration>(entrant.ttl / 4, kHalfTickMax);
  if (longer) co_await reach.env.sleep_for(quiet);
  entrant.ttl = session.ttl();
  const TimePoint sent_at = reach.env.now();
  const SharedRequest write = share(Write{.path = path, .data = to_data(entrant)});
  const auto written = co_await line->answered(write, answer_by);
  if (!written) co_return Unexpected{written.error()};
  if (written->verdict != Verdict::done) co_return TimePoint::min();
  if (!longer) co_return session.valid_until();
  co_await reach.env.sleep_for(quiet + Millis{1});
  const SharedRequest beat = share(Multi{.steps = {Check{.path = "/"}}});
  const auto answer = co_await line->answered(beat, answer_by);
  if (!answer && answer.error().code != Errc::denied) co_return Unexpected{answer.error()};
  co_return core::deadline_of(sent_at, session.ttl());
}

/// As the owner of a detached lease may resume it.
SessionAsk resuming(const Known& known, const Owner& owner, Millis ttl) {
  const SessionKey key{.id = known.stat.owner, .password = sealed_by(owner, known.entrant.sealed)};
  return {.timeout = std::max(known.entrant.ttl, ttl), .resume = key};
}

}  // namespace

struct ZookeeperDesk::Reach : DeskReach {
  using DeskReach::DeskReach;
};

ZookeeperDesk::ZookeeperDesk(Env& env, std::shared_ptr<ZookeeperPort> port, Settings settings)
    : reach_{std::make_shared<Reach>(env, std::move(port), std::move(settings))} {}

ZookeeperDesk::~ZookeeperDesk() = default;

Task<Result<LockInfo>> ZookeeperDesk::inspect(LockName name, TimePoint answer_by) {
  const auto reach = reach_;
  const auto use = co_await reach->enter(answer_by);
  if (!use) co_return Unexpected{use.error()};
  const auto line = (*use)->line;
  auto lineup = co_await reach->look_at(*line, std::move(name), answer_by);
  if (!lineup) co_return Unexpected{lineup.error()};
  co_return std::move(lineup->info);
}

Task<Result<std::vector<LockInfo>>> ZookeeperDesk::list(std::string prefix, TimePoint answer_by) {
  const auto reach = reach_;
  const auto use = co_await reach->enter(answer_by);
  if (!use) co_return Unexpected{use.error()};
  const auto line = (*use)->line;
  const std::string& root = reach->nodes.prefix();
  const std::vector<SharedRequest> one(1, share(List{.path = root.empty() ? "/" : root}));
  const auto listed = co_await ask_all(reach->env, *line, one, answer_by);
  if (!listed) co_return Unexpected{listed.error()};
  std::vector<LockName> names;
  for (const std::string& child : listed->front().children) {
    auto name = reach->nodes.read(child);
    if (name && name->text().starts_with(prefix)) names.push_back(*std::move(name));
  }
  std::ranges::sort(names);
  auto lineups = co_await reach->look_at_all(*line, std::move(names), answer_by);
  if (!lineups) co_return Unexpected{lineups.error()};
  std::vector<LockInfo> infos;
  for (Lineup& lineup : *lineups) infos.push_back(std::move(lineup.info));
  co_return infos;
}

Task<Result<BreakReport>> ZookeeperDesk::break_lock(LockName name,
                                                    std::string why,
                                                    TimePoint answer_by) {
  const auto reach = reach_;
  const auto use = co_await reach->enter(answer_by);
  if (!use) co_return Unexpected{use.error()};
  const auto line = (*use)->line;
  for (bool prepared = false;; prepared = true) {
    auto lineup = co_await reach->look_at(*line, name, answer_by);
    if (!lineup) co_return Unexpected{lineup.error()};
    if (lineup->holders.empty()) {
      co_return Unexpected{Error{Errc::not_found, "nobody holds the lock " + name.text()}};
    }
    if (!prepared) {
      const auto room = co_await prepare_records(*reach, *line, answer_by);
      if (!room) co_return Unexpected{room.error()};
    }
    const auto broken = co_await try_break(*reach, *line, *lineup, why, answer_by);
    if (!broken) co_return Unexpected{broken.error()};
    if (*broken) co_return BreakReport{.holders = std::move(lineup->info.holders)};
  }
}

Task<Result<Duration>> ZookeeperDesk::extend(LockName name,
                                             Owner owner,
                                             Millis ttl,
                                             TimePoint answer_by) {
  const auto reach = reach_;
  const TimePoint called_at = reach->env.now();
  const auto use = co_await reach->enter(answer_by);
  if (!use) co_return Unexpected{use.error()};
  const auto line = (*use)->line;
  const auto lineup = co_await reach->look_at(*line, name, answer_by);
  if (!lineup) co_return Unexpected{lineup.error()};
  const Known* const known = find_owner(lineup->holders, owner.fingerprint());
  if (known == nullptr) co_return Unexpected{not_held(name)};
  if (known->entrant.kind == LeaseKind::session) {
    co_return Unexpected{Error{Errc::unsupported,
                               "the lease on " + name.text() + " is kept by its own process",
                               "renew it there, or take a detached lease"}};
  }
  SessionAsk ask = resuming(*known, owner, ttl);
  const auto session = co_await reach->sessions->open(std::move(ask), answer_by);
  if (!session && session.error().code == Errc::lost) co_return Unexpected{not_held(name)};
  if (!session) co_return Unexpected{session.error()};
  const std::string path = *reach->nodes.lock(name) + '/' + known->child.name;
  const auto until = co_await settle_in(*reach, **session, path, known->entrant, answer_by);
  reach->sessions->leave_alone(*session);
  if (!until) co_return Unexpected{until.error()};
  if (*until == TimePoint::min()) co_return Unexpected{not_held(name)};
  co_return std::clamp<Duration>(*until - called_at, Duration{0}, (*session)->ttl());
}

Task<Result<ReleaseOutcome>> ZookeeperDesk::release(LockName name,
                                                    Owner owner,
                                                    TimePoint answer_by) {
  const auto reach = reach_;
  const auto use = co_await reach->enter(answer_by);
  if (!use) co_return Unexpected{use.error()};
  const auto line = (*use)->line;
  const auto lineup = co_await reach->look_at(*line, name, answer_by);
  if (!lineup) co_return Unexpected{lineup.error()};
  const std::string owner_fp = owner.fingerprint();
  const Known* known = find_owner(lineup->holders, owner_fp);
  if (known == nullptr) known = find_owner(lineup->waiters, owner_fp);
  if (known == nullptr) co_return ReleaseOutcome::already_lost;
  const std::string path = *reach->nodes.lock(name) + '/' + known->child.name;
  const SharedRequest erase = share(Erase{.path = path});
  const auto answer = co_await line->answered(erase, answer_by);
  if (!answer && answer.error().code == Errc::unknown_outcome) co_return ReleaseOutcome::unknown;
  if (!answer) co_return Unexpected{answer.error()};
  if (known->entrant.kind == LeaseKind::detached) {
    SessionAsk ask = resuming(*known, owner, Millis{0});
    reach->env.spawn(end_session(reach->sessions, std::move(ask), answer_by));
  }
  const bool now = answer->verdict == Verdict::done;
  co_return now ? ReleaseOutcome::released : ReleaseOutcome::already_lost;
}

std::unique_ptr<core::LockEar> ZookeeperDesk::listen(LockName name,
                                                     std::function<void()> on_change) {
  auto lock = reach_->nodes.lock(name);
  if (!lock) return nullptr;
  return std::make_unique<ContendersEar>(reach_, *std::move(lock), std::move(on_change));
}

}  // namespace holdfast::zookeeper
