#include "sim/etcd/etcd_cluster.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

using namespace etcd;

// The leader looks twice a second which leases have ended.
constexpr Duration kLook = std::chrono::milliseconds{500};
constexpr std::uint64_t kClusterId = 0xcdf818194e3a8c32;
constexpr Duration kClocksApart = std::chrono::hours{1};
/// What is restored counts as agreed on in the first term; the election after it begins the second.
constexpr std::uint64_t kTermOfBackup = 1;

}  // namespace

EtcdCluster::EtcdCluster(Scheduler& scheduler, std::size_t members, std::uint64_t seed)
    : scheduler_{scheduler}, chance_{seed} {
  for (std::size_t i = 0; i < members; ++i) {
    members_.push_back({.clock = SimClock{chance_.between(Duration{0}, kClocksApart)}});
  }
}

Duration EtcdCluster::now() const { return members_.at(*leader_).clock.at(scheduler_.now()); }

bool EtcdCluster::sound(std::size_t member) const {
  return members_[member].up && (members_.size() == 1 || !members_[member].cut_off);
}

bool EtcdCluster::majority() const {
  std::size_t sound_members = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) sound_members += sound(i) ? 1 : 0;
  return sound_members > members_.size() / 2;
}

std::optional<std::size_t> EtcdCluster::candidate(std::optional<std::size_t> old) {
  if (!majority()) return std::nullopt;
  const std::size_t first = chance_.below(members_.size());
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t member = (first + i) % members_.size();
    if (!sound(member)) continue;
    if (member != old) return member;
    found = member;
  }
  return found;
}

void EtcdCluster::lead(std::size_t member) {
  leader_ = member;
  ++term_;
  ++election_;
  model_.promote(now(), kElection);
  plan_expiry();
  for (Work& run : std::exchange(waiting_, {})) run();
}

void EtcdCluster::lose_leader() {
  leader_.reset();
  for (const auto& [id, member] : watched_at_) model_.unwatch(id);
  watched_at_.clear();
}

void EtcdCluster::settle() {
  if (leader_ && (!sound(*leader_) || !majority())) lose_leader();
  if (!leader_ && majority()) plan_election();
}

void EtcdCluster::plan_election() {
  const Duration after = chance_.between(kElection, kElection * 2);
  scheduler_.after(after, [this, election = ++election_] {
    if (election != election_ || leader_) return;
    if (const auto member = candidate(std::nullopt)) lead(*member);
  });
}

void EtcdCluster::end_watches_at(std::size_t member) {
  std::erase_if(watched_at_, [&](const auto& one) {
    if (one.second == member) model_.unwatch(one.first);
    return one.second == member;
  });
}

void EtcdCluster::stop(std::size_t member) {
  members_.at(member).up = false;
  end_watches_at(member);
  settle();
}

void EtcdCluster::start(std::size_t member) {
  members_.at(member).up = true;
  settle();
}

void EtcdCluster::isolate(std::size_t member) {
  members_.at(member).cut_off = true;
  end_watches_at(member);
  settle();
}

void EtcdCluster::rejoin(std::size_t member) {
  members_.at(member).cut_off = false;
  settle();
}

void EtcdCluster::change_leader() {
  if (!leader_) return;
  if (const auto member = candidate(leader_)) lead(*member);
}

std::optional<EtcdCluster::Stuck> EtcdCluster::stick_leader() {
  const auto member = leader_ ? candidate(leader_) : std::nullopt;
  if (!member || member == leader_) return std::nullopt;
  Stuck stuck{.member = *leader_, .known = model_.state()};
  lead(*member);
  return stuck;
}

void EtcdCluster::go_on(const Stuck& leader) {
  if (!leader_ || !sound(leader.member)) return;
  const Duration its_now = members_[leader.member].clock.at(scheduler_.now());
  for (const LeaseId lease : leader.known.ended(its_now)) static_cast<void>(model_.revoke(lease));
}

void EtcdCluster::restore() {
  lose_leader();
  waiting_.clear();
  model_.restore(backup_);
  term_ = kTermOfBackup;
  for (Member& member : members_) member.up = true;
  settle();
}

void EtcdCluster::set_clock_rate(std::size_t member, ClockRate rate) {
  members_.at(member).clock.set_rate(scheduler_.now(), rate);
  if (leader_ == member) plan_expiry();
}

void EtcdCluster::plan_expiry() {
  const auto next = model_.next_end();
  if (!next || !leader_) return;
  const TimePoint ends = members_[*leader_].clock.when(*next);
  if (ends >= expiry_planned_) return;
  const Duration look = chance_.between(Duration{0}, kLook);
  expiry_planned_ = std::max(ends, scheduler_.now()) + look;
  scheduler_.after(expiry_planned_ - scheduler_.now(), [this] {
    expiry_planned_ = TimePoint::max();
    if (!leader_) return;
    model_.expire(now());
    plan_expiry();
  });
}

EtcdCluster::Reception EtcdCluster::receive(std::size_t member) {
  if (!members_.at(member).up) return Reception::refused;
  if (sound(member) && leader_) return Reception::runs;
  const std::uint64_t drawn = chance_.below(4);
  if (drawn < 2) return Reception::refused;
  return drawn == 2 && sound(member) ? Reception::waits : Reception::vanishes;
}

Header EtcdCluster::header(std::size_t member, Revision revision) const {
  return {.cluster = kClusterId, .member = member + 1, .revision = revision, .term = term_};
}

template <class Answer>
Result<Answer> EtcdCluster::headed(std::size_t member, Result<Answer> answer) const {
  if (answer) answer->header = header(member, answer->header.revision);
  return answer;
}

Result<TxnAnswer> EtcdCluster::commit(std::size_t member, const Txn& txn) {
  return headed(member, model_.commit(txn));
}

Result<LeaseAnswer> EtcdCluster::grant(std::size_t member, LeaseId lease, Seconds ttl) {
  Result<LeaseAnswer> answer = model_.grant(lease, ttl, now());
  plan_expiry();
  return headed(member, std::move(answer));
}

Result<LeaseAnswer> EtcdCluster::keep_alive(std::size_t member, LeaseId lease) {
  return headed(member, model_.keep_alive(lease, now()));
}

Result<LeaseAnswer> EtcdCluster::revoke(std::size_t member, LeaseId lease) {
  return headed(member, model_.revoke(lease));
}

Result<LeaseAnswer> EtcdCluster::look_up(std::size_t member, LeaseId lease) {
  return headed(member, model_.look_up(lease, now()));
}

EtcdModel::Begun EtcdCluster::watch(std::size_t member, Watch watch, EtcdModel::Receiver receiver) {
  EtcdModel::Begun begun = model_.watch(std::move(watch), std::move(receiver));
  watched_at_.emplace(begun.id, member);
  return begun;
}

void EtcdCluster::unwatch(EtcdModel::WatcherId id) {
  model_.unwatch(id);
  watched_at_.erase(id);
}

}  // namespace holdfast::sim
