// EtcdDriver: the EtcdPort over gRPC.
//
// One endpoint at a time carries everything: transactions share its channel, renewals one stream,
// watches another. When it fails, the next endpoint takes its place (route.h).
//
// Thread safety: every member is called on the Env's thread; create() and the destructor on any.
// Lifetime: the Env outlives it. Destroying it ends all calls and drops the callbacks without
// calling them; the tasks that wait for them unwind. A callback may drop its last owner.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "engines/etcd/driver/etcd_target.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

/// How a server says it is.
struct MemberStatus {
  Header header{};
  std::string version{};
  std::int64_t db_size{0};
  std::int64_t db_size_in_use{0};
  /// Whom it follows; zero: nobody.
  std::uint64_t leader{0};
  std::uint64_t raft_index{0};
  std::uint64_t applied_index{0};
  std::vector<std::string> errors{};
  enum class Role : std::uint8_t { voter, learner } role{Role::voter};
};

/// One of the cluster, as its list has it.
struct Member {
  std::uint64_t id{0};
  std::string name{};
  std::vector<std::string> client_urls{};
  MemberStatus::Role role{MemberStatus::Role::voter};
};

struct ClusterAlarm {
  enum class Kind : std::uint8_t { none, no_space, corrupt };

  std::uint64_t member{0};
  Kind kind{Kind::none};
};

using OnStatus = Callback<56, Result<MemberStatus>>;
using OnMembers = Callback<56, Result<std::vector<Member>>>;
using OnAlarms = Callback<56, Result<std::vector<ClusterAlarm>>>;

class EtcdDriver final : public EtcdPort {
 public:
  /// What has happened so far; for tests and measurements.
  struct Stats {
    /// Attempts of unary calls.
    std::uint64_t requests{0};
    /// Messages on the stream of renewals.
    std::uint64_t keep_alives{0};
    /// Watches asked for, those asked for again included.
    std::uint64_t watches{0};
    /// How often an endpoint became the one that is asked.
    std::uint64_t visits{0};
  };

  /// Connects to nothing yet. Reads the files of the TLS settings. Precondition: the target has an
  /// endpoint. invalid_argument: a file cannot be used. io_error: no thread is left.
  static Result<std::shared_ptr<EtcdDriver>> create(Env& env,
                                                    const EtcdTarget& target,
                                                    EtcdDriverSettings settings = {});
  ~EtcdDriver() override;
  EtcdDriver(const EtcdDriver&) = delete;
  EtcdDriver& operator=(const EtcdDriver&) = delete;

  /// A request that cannot leave waits for an endpoint until its deadline. Who is let in by no
  /// endpoint, or finds that none is etcd, hears of it at once.
  void commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) override;
  void grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) override;
  void keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) override;
  void revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) override;
  void look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) override;
  WatchId watch(Watch watch, OnWatch on_watch) override;
  void unwatch(WatchId id) override;

  /// For the doctor: asks this endpoint of the target alone. Fails as commit() does; an endpoint
  /// that cannot be reached is unavailable at once.
  void status(std::size_t endpoint, TimePoint answer_by, OnStatus on_answer);
  /// What the cluster knows of itself. denied: only some users may ask.
  void members(TimePoint answer_by, OnMembers on_answer);
  void alarms(TimePoint answer_by, OnAlarms on_answer);

  Stats stats() const;

 private:
  struct Core;
  explicit EtcdDriver(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::etcd
