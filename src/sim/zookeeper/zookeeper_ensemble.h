// ZookeeperEnsemble: the members of a model ZooKeeper: who leads, what each has seen, who is
// connected to whom, and by whose clock sessions end.
//
// Changes get their order from the leader, as soon as it has a majority. Followers learn of them
// later and answer reads with what they have. A follower that is cut off goes on answering for some
// ticks, and so does a leader, even syncs; what a follower hears of sessions it passes on only when
// the leader asks, twice a tick. How members agree is not modelled, but what clients see of it is.
//
// Thread safety: none. The scheduler outlives it.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/callback.h"
#include "sim/world/chance.h"
#include "sim/world/scheduler.h"
#include "sim/world/sim_clock.h"
#include "sim/zookeeper/zookeeper_connection.h"
#include "sim/zookeeper/zookeeper_sessions.h"

namespace holdfast::sim {

class ZookeeperEnsemble {
 public:
  static constexpr Duration kTick = ZookeeperSessions::kTick;
  static constexpr Millis kTimeoutMin = std::chrono::duration_cast<Millis>(kTick * 2);
  static constexpr Millis kTimeoutMax = std::chrono::duration_cast<Millis>(kTick * 20);
  /// How long members go on that do not hear of each other.
  static constexpr Duration kSyncLimit = kTick * 4;

  /// The first member leads.
  ZookeeperEnsemble(Scheduler& scheduler, std::size_t members, std::uint64_t seed);
  ~ZookeeperEnsemble();
  ZookeeperEnsemble(const ZookeeperEnsemble&) = delete;
  ZookeeperEnsemble& operator=(const ZookeeperEnsemble&) = delete;

  std::size_t members() const { return members_.size(); }
  /// Who was elected last, if it still leads.
  std::optional<std::size_t> leader() const;
  bool up(std::size_t member) const { return members_.at(member).up; }
  bool cut_off(std::size_t member) const { return members_.at(member).cut_off; }

  /// The process ends, and comes back with all it had. Without effect when it is so already.
  void stop(std::size_t member);
  void start(std::size_t member);
  /// The member and all others do not hear each other; clients hear both.
  void isolate(std::size_t member);
  void rejoin(std::size_t member);
  /// Whether those that follow a leader they do not hear notice at once, or only by its silence.
  enum class Notice : std::uint8_t { by_silence, at_once };
  void isolate(std::size_t member, Notice notice);
  /// The leader gives up, and another is elected.
  void change_leader();
  void set_clock_rate(std::size_t member, ClockRate rate);
  /// How often a follower is slow to learn of a change, or a message between members is.
  void set_lag(PerMille lag) { lag_ = lag; }

  // What arrives at a member from a client. Answers are said later or at once.
  ZookeeperConnectionPtr connect(std::size_t member,
                                 const ZookeeperHello& hello,
                                 std::function<void(ZookeeperWord)> say);
  void receive(const ZookeeperConnectionPtr& from,
               std::uint64_t number,
               zookeeper::SharedRequest request);
  void ping(const ZookeeperConnectionPtr& from);
  /// Watches of a session that has moved here, which had seen everything up to `since`.
  void watch_again(const ZookeeperConnectionPtr& from,
                   const ZookeeperWatches& watches,
                   zookeeper::Zxid since);
  void unwatch(const ZookeeperConnectionPtr& from, const std::string& path);
  void end_session(const ZookeeperConnectionPtr& from);
  /// The client has hung up.
  void hang_up(const ZookeeperConnectionPtr& from);

  // What tests look at.
  /// As the member has it.
  const ZookeeperTree& tree(std::size_t member) const { return members_.at(member).tree; }
  ZookeeperTree& tree(std::size_t member) { return members_.at(member).tree; }
  /// With all changes. Precondition: there is a leader.
  const ZookeeperTree& tree() const { return members_.at(leader().value()).tree; }
  bool has_session(zookeeper::SessionId id) const { return sessions_.contains(id); }
  std::size_t sessions() const { return sessions_.size(); }
  /// How many watches the members have.
  std::size_t watches() const;
  Scheduler& scheduler() { return scheduler_; }

 private:
  enum class Role : std::uint8_t { looking, following, leading };
  struct Opening {
    Millis timeout;
  };
  struct Closing {};
  /// A change of which the members agree in which order it comes.
  struct Entry {
    zookeeper::SessionId by;
    std::variant<zookeeper::SharedRequest, Opening, Closing> what;
    /// Who is told how it went. Null: nobody.
    ZookeeperConnectionPtr from{};
    std::uint64_t number{0};
    zookeeper::Zxid zxid{0};
    /// By the leader's wall clock.
    Millis at{0};
  };
  struct Member {
    bool up{true};
    bool cut_off{false};
    SimClock clock{};
    Role role{Role::looking};
    /// Whom it follows, and in which epoch it follows or leads.
    std::size_t leader{0};
    std::int64_t epoch{0};
    /// Counts its roles: what was under way in an earlier one is void.
    std::uint64_t term{0};
    /// How many entries it has seen, and what came of them.
    std::size_t seen{0};
    zookeeper::Zxid zxid{0};
    ZookeeperTree tree{};
    std::vector<ZookeeperConnectionPtr> connections{};
    // While it follows.
    /// Sessions it has heard of since the leader last asked.
    std::set<zookeeper::SessionId> heard{};
    /// When the last message to its leader, from its leader, and the last change get there.
    TimePoint up_until{};
    TimePoint down_until{};
    TimePoint learns_until{};
    /// Between it and its leader, until they hear each other again.
    std::vector<std::function<void()>> held{};
    // While it leads.
    ZookeeperSessions sessions{};
    TimePoint expiry_planned{TimePoint::max()};
    /// What waits for a majority.
    std::deque<Entry> pending{};
    bool gives_up{false};
  };

  // Who leads.
  bool sound(std::size_t member) const;
  bool leads(std::size_t member) const;
  bool hears_leader(std::size_t follower) const;
  bool has_majority(std::size_t leader) const;
  void look(std::size_t member);
  bool knows_that_nobody_leads(std::size_t follower) const;
  void settle();
  void plan_giving_up(std::size_t leader);
  void plan_leaving(std::size_t follower, Duration after);
  void plan_joining(std::size_t member);
  void plan_election();
  void elect();
  void lead(std::size_t member);
  void follow(std::size_t member, std::size_t leader);
  void begin_role(std::size_t member, Role role);
  void close_all(std::size_t member, const std::string& why);

  // What a leader does of itself.
  Duration now_at(std::size_t member) const;
  void plan_ping(std::size_t leader);
  void plan_expiry(std::size_t leader);
  void plan_sweep(std::size_t leader);

  // Between a follower and its leader, in order.
  Duration latency();
  void to_leader(std::size_t follower, std::function<void()> arrive);
  void to_follower(std::size_t follower, std::function<void()> arrive);
  void pass(std::size_t follower, std::uint64_t term, const std::function<void()>& arrive);
  void pass_held(std::size_t follower);
  /// When the member has learnt of all changes it was told of before.
  void when_learnt(std::size_t follower, std::function<void()> run);

  // Requests.
  void say(const ZookeeperConnectionPtr& to, ZookeeperWord word) const;
  void close(const ZookeeperConnectionPtr& connection, const std::string& why);
  void welcome(const ZookeeperConnectionPtr& to, Millis timeout);
  void resume(const ZookeeperConnectionPtr& from);
  bool touch(const ZookeeperConnectionPtr& from);
  /// At the leader of the connection's member.
  void ask_leader(const ZookeeperConnectionPtr& from, Entry entry);
  void at_leader(std::size_t leader, Entry entry);
  void answer_sync(std::size_t leader, const Entry& entry);
  void propose(std::size_t leader, Entry entry);
  void commit(std::size_t leader, Entry entry);
  void learn(std::size_t member, std::size_t entries);
  void learn_one(std::size_t member, const Entry& entry);
  void tell_watches(std::size_t member, const std::vector<ZookeeperTree::Change>& changes);
  void complete(const ZookeeperConnectionPtr& from, std::uint64_t number, zookeeper::Answer answer);
  void answer_ready(const ZookeeperConnectionPtr& to);

  Scheduler& scheduler_;
  Chance chance_;
  PerMille lag_{};
  std::vector<Member> members_;
  /// All changes that were agreed upon.
  std::deque<Entry> log_;
  std::map<zookeeper::SessionId, Millis> sessions_;
  std::size_t elected_{0};
  std::int64_t epoch_{0};
  std::int64_t counted_{0};
  std::int64_t last_session_{0};
  bool election_planned_{false};
};

}  // namespace holdfast::sim
