#include "sim/zookeeper/zookeeper_ensemble.h"

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kClocksApart = 1h;
constexpr Duration kElectionMin = 200ms;
constexpr Duration kElectionMax = 1s;
constexpr Duration kJoiningMin = 20ms;
constexpr Duration kJoiningMax = 300ms;

}  // namespace

ZookeeperEnsemble::ZookeeperEnsemble(Scheduler& scheduler, std::size_t members, std::uint64_t seed)
    : scheduler_{scheduler}, chance_{seed}, members_(members) {
  for (Member& member : members_) member.clock = SimClock{chance_.between(0s, kClocksApart)};
  lead(0);
  for (std::size_t i = 1; i < members; ++i) follow(i, 0);
}

// A client's end keeps its connection, and how to answer keeps the client's end.
ZookeeperEnsemble::~ZookeeperEnsemble() {
  for (const Member& member : members_) {
    for (const auto& connection : member.connections) connection->say = nullptr;
  }
}

bool ZookeeperEnsemble::sound(std::size_t member) const {
  return members_[member].up && (members_.size() == 1 || !members_[member].cut_off);
}

bool ZookeeperEnsemble::leads(std::size_t member) const {
  return members_[member].role == Role::leading && members_[member].epoch == epoch_;
}

std::optional<std::size_t> ZookeeperEnsemble::leader() const {
  return leads(elected_) ? std::optional{elected_} : std::nullopt;
}

bool ZookeeperEnsemble::hears_leader(std::size_t follower) const {
  return sound(follower) && sound(members_[follower].leader);
}

bool ZookeeperEnsemble::has_majority(std::size_t leader) const {
  std::size_t with = 1;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& one = members_[i];
    const bool its = one.role == Role::following && one.leader == leader;
    if (its && one.epoch == members_[leader].epoch && hears_leader(i)) ++with;
  }
  return with > members_.size() / 2;
}

std::size_t ZookeeperEnsemble::watches() const {
  std::size_t count = 0;
  for (const Member& member : members_) {
    for (const auto& connection : member.connections) {
      count += connection->data_watches.size() + connection->child_watches.size();
    }
  }
  return count;
}

void ZookeeperEnsemble::close_all(std::size_t member, const std::string& why) {
  for (const auto& connection : std::vector{members_[member].connections}) close(connection, why);
}

void ZookeeperEnsemble::begin_role(std::size_t index, Role role) {
  Member& member = members_[index];
  member.role = role;
  ++member.term;
  member.heard.clear();
  member.held.clear();
  member.up_until = member.down_until = member.learns_until = scheduler_.now();
  member.expiry_planned = TimePoint::max();
  member.gives_up = false;
}

void ZookeeperEnsemble::look(std::size_t member) {
  if (members_[member].role == Role::looking) return;
  begin_role(member, Role::looking);
  close_all(member, "it has no leader");
  settle();
}

bool ZookeeperEnsemble::knows_that_nobody_leads(std::size_t follower) const {
  const Member& member = members_[follower];
  const Member& its = members_[member.leader];
  if (member.role != Role::following || !sound(follower) || its.cut_off) return false;
  return !its.up || its.role != Role::leading || its.epoch != member.epoch;
}

void ZookeeperEnsemble::settle() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (knows_that_nobody_leads(i)) return look(i);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].role == Role::leading && !has_majority(i)) plan_giving_up(i);
  }
  const auto current = leader();
  if (current && sound(*current)) {
    if (has_majority(*current)) {
      members_[*current].gives_up = false;
      while (!members_[*current].pending.empty()) {
        Entry entry = std::move(members_[*current].pending.front());
        members_[*current].pending.pop_front();
        commit(*current, std::move(entry));
      }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].role == Role::looking && sound(i)) plan_joining(i);
    }
    return;
  }
  plan_election();
}

// It looks every tick whether it has heard of enough followers within the limit.
void ZookeeperEnsemble::plan_giving_up(std::size_t leader) {
  Member& member = members_[leader];
  if (std::exchange(member.gives_up, true)) return;
  const Duration after = kSyncLimit + chance_.between(0s, kTick);
  scheduler_.after(after, [this, leader, term = member.term] {
    Member& one = members_[leader];
    if (one.term != term || !std::exchange(one.gives_up, false)) return;
    if (has_majority(leader)) return;
    look(leader);
  });
}

void ZookeeperEnsemble::plan_leaving(std::size_t follower, Duration after) {
  scheduler_.after(after, [this, follower, term = members_[follower].term] {
    if (members_[follower].term == term && !hears_leader(follower)) look(follower);
  });
}

void ZookeeperEnsemble::plan_joining(std::size_t member) {
  const Duration after = chance_.between(kJoiningMin, kJoiningMax);
  scheduler_.after(after, [this, member, term = members_[member].term] {
    const auto current = leader();
    if (members_[member].term != term || !current || current == member) return;
    if (!sound(member) || !sound(*current)) return;
    follow(member, *current);
    settle();
  });
}

void ZookeeperEnsemble::plan_election() {
  if (std::exchange(election_planned_, true)) return;
  scheduler_.after(chance_.between(kElectionMin, kElectionMax), [this] {
    election_planned_ = false;
    const auto current = leader();
    if (!current || !sound(*current)) elect();
  });
}

void ZookeeperEnsemble::elect() {
  std::vector<std::size_t> voters;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].role == Role::looking && sound(i)) voters.push_back(i);
  }
  if (voters.size() <= members_.size() / 2) return;
  const std::size_t chosen = voters[chance_.below(voters.size())];
  // A follower may have known what its leader could not tell that it knew.
  std::deque<Entry> left_over = std::exchange(members_[elected_].pending, {});
  left_over.resize(std::min<std::size_t>(left_over.size(), chance_.below(3)));
  lead(chosen);
  for (const std::size_t voter : voters) {
    if (voter != chosen) follow(voter, chosen);
  }
  for (Entry& entry : left_over) commit(chosen, std::move(entry));
  settle();
}

void ZookeeperEnsemble::lead(std::size_t index) {
  begin_role(index, Role::leading);
  Member& member = members_[index];
  elected_ = index;
  member.pending.clear();
  member.leader = index;
  member.epoch = ++epoch_;
  counted_ = 0;
  learn(index, log_.size());
  member.sessions.begin(sessions_, now_at(index));
  plan_ping(index);
  plan_expiry(index);
  plan_sweep(index);
}

void ZookeeperEnsemble::follow(std::size_t index, std::size_t leader) {
  begin_role(index, Role::following);
  Member& member = members_[index];
  member.pending.clear();
  member.leader = leader;
  member.epoch = members_[leader].epoch;
  learn(index, log_.size());
}

void ZookeeperEnsemble::stop(std::size_t member) {
  if (!std::exchange(members_.at(member).up, false)) return;
  look(member);
  settle();
}

void ZookeeperEnsemble::start(std::size_t member) {
  members_.at(member).up = true;
  settle();
}

void ZookeeperEnsemble::isolate(std::size_t member) {
  isolate(member, chance_.below(4) == 0 ? Notice::at_once : Notice::by_silence);
}

void ZookeeperEnsemble::isolate(std::size_t index, Notice notice) {
  Member& member = members_.at(index);
  if (std::exchange(member.cut_off, true) || members_.size() == 1) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].role != Role::following || (i != index && members_[i].leader != index))
      continue;
    const Duration silence = kSyncLimit - chance_.between(0s, kTick / 2);
    plan_leaving(i, i != index && notice == Notice::at_once ? Duration{0} : silence);
  }
  settle();
}

void ZookeeperEnsemble::rejoin(std::size_t index) {
  if (!std::exchange(members_.at(index).cut_off, false)) return;
  settle();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].role == Role::following && hears_leader(i)) pass_held(i);
  }
}

void ZookeeperEnsemble::change_leader() {
  if (const auto current = leader()) look(*current);
}

void ZookeeperEnsemble::set_clock_rate(std::size_t member, ClockRate rate) {
  members_.at(member).clock.set_rate(scheduler_.now(), rate);
  members_[member].expiry_planned = TimePoint::max();
  if (members_[member].role == Role::leading) plan_expiry(member);
}

}  // namespace holdfast::sim
