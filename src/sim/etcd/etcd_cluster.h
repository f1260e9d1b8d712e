// EtcdCluster: the members of a model etcd, which of them leads, and by whose clock leases end.
//
// A member that is up and not cut off belongs to the majority as long as there is one; how members
// agree is not modelled, but what clients see of it is: requests that are refused, vanish or run
// late while nobody leads, leases that begin anew under each leader, a leader that was stuck and
// takes leases away which were renewed meanwhile, a restore from backup.
//
// Thread safety: none. The scheduler outlives it.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/callback.h"
#include "sim/etcd/etcd_model.h"
#include "sim/world/chance.h"
#include "sim/world/scheduler.h"
#include "sim/world/sim_clock.h"

namespace holdfast::sim {

class EtcdCluster {
 public:
  /// How long members wait for a leader before they elect another, at least.
  static constexpr Duration kElection = std::chrono::seconds{1};

  /// The first member leads.
  EtcdCluster(Scheduler& scheduler, std::size_t members, std::uint64_t seed);
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  std::size_t members() const { return members_.size(); }
  std::optional<std::size_t> leader() const { return leader_; }
  bool up(std::size_t member) const { return members_.at(member).up; }
  bool cut_off(std::size_t member) const { return members_.at(member).cut_off; }

  /// The machine goes down, and comes back with all it had. Without effect when it is so already.
  void stop(std::size_t member);
  void start(std::size_t member);
  /// The member and all others do not hear each other; clients hear both.
  void isolate(std::size_t member);
  void rejoin(std::size_t member);

  /// Leadership passes to another member. Without effect when there is none that could lead.
  void change_leader();
  /// A leader that stopped in the middle, and what it knew then.
  struct Stuck {
    std::size_t member{0};
    EtcdModel::State known;
  };
  /// The leader stops, and another takes over. Empty: there is nobody to take over.
  std::optional<Stuck> stick_leader();
  /// It goes on, and takes away every lease that has ended for all it knows.
  void go_on(const Stuck& leader);

  /// Forgets what happened before `revision`.
  void compact(etcd::Revision revision) { model_.compact(revision); }
  void back_up() { backup_ = model_.state(); }
  /// All members begin anew with what the last backup had: revisions and terms go back. Leases
  /// begin anew.
  void restore();

  void set_clock_rate(std::size_t member, ClockRate rate);

  /// What becomes of a request that arrives at a member.
  enum class Reception : std::uint8_t {
    runs,
    /// It answers that nobody leads, or there is nobody to answer.
    refused,
    /// It runs when there is a leader again.
    waits,
    /// Nobody will ever know of it.
    vanishes,
  };
  Reception receive(std::size_t member);
  void when_led(Work run) { waiting_.push_back(std::move(run)); }

  // What runs. Precondition of each: there is a leader.
  Result<etcd::TxnAnswer> commit(std::size_t member, const etcd::Txn& txn);
  Result<etcd::LeaseAnswer> grant(std::size_t member, etcd::LeaseId lease, etcd::Seconds ttl);
  Result<etcd::LeaseAnswer> keep_alive(std::size_t member, etcd::LeaseId lease);
  Result<etcd::LeaseAnswer> revoke(std::size_t member, etcd::LeaseId lease);
  Result<etcd::LeaseAnswer> look_up(std::size_t member, etcd::LeaseId lease);

  /// Ends when the member goes down, is cut off or has no leader.
  EtcdModel::Begun watch(std::size_t member, etcd::Watch watch, EtcdModel::Receiver receiver);
  void unwatch(EtcdModel::WatcherId id);
  bool watches(EtcdModel::WatcherId id) const { return model_.watches(id); }

  etcd::Header header(std::size_t member, etcd::Revision revision) const;
  const EtcdKeyspace& keys() const { return model_.keys(); }
  etcd::Revision revision() const { return model_.keys().revision(); }
  std::uint64_t term() const { return term_; }

 private:
  struct Member {
    bool up{true};
    bool cut_off{false};
    SimClock clock{};
  };

  bool sound(std::size_t member) const;
  bool majority() const;
  /// A sound member, the old leader only if there is no other.
  std::optional<std::size_t> candidate(std::optional<std::size_t> old);
  void lead(std::size_t member);
  void lose_leader();
  /// Looks who leads after members came or went.
  void settle();
  void plan_election();
  void end_watches_at(std::size_t member);

  /// Of the leader's clock.
  Duration now() const;
  /// Has leases taken away when they have ended.
  void plan_expiry();
  template <class Answer>
  Result<Answer> headed(std::size_t member, Result<Answer> answer) const;

  Scheduler& scheduler_;
  Chance chance_;
  EtcdModel model_;
  EtcdModel::State backup_;
  std::vector<Member> members_;
  std::optional<std::size_t> leader_{0};
  std::uint64_t term_{2};
  /// An election that was planned before is not held.
  std::uint64_t election_{0};
  TimePoint expiry_planned_{TimePoint::max()};
  std::vector<Work> waiting_;
  std::map<EtcdModel::WatcherId, std::size_t> watched_at_;
};

}  // namespace holdfast::sim
