// PostgresNode: one simulated machine with a PostgreSQL on it: its tables, its sequence, its
// backends, a wall clock, and a replica that lags behind.
//
// Every statement is one step. What was answered is on the disk.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "engines/postgres/postgres_port.h"
#include "sim/postgres/lease_functions.h"
#include "sim/world/scheduler.h"

namespace holdfast::sim {

/// A process of the server's, or none.
struct BackendId {
  std::int32_t value{0};
  friend constexpr auto operator<=>(BackendId, BackendId) = default;
};

class PostgresNode final : private LeaseServer {
 public:
  /// Gets notifications in the middle of a statement, and so must not call the server.
  struct Client {
    std::function<void(const std::string& channel, const std::string& payload)> notify;
    /// The server ends the connection.
    std::function<void()> ended;
  };
  /// Called after each statement.
  using Observer = std::function<void(const LeaseTables&, WallTime)>;

  /// The scheduler outlives the node.
  explicit PostgresNode(const Scheduler& scheduler, SimClock clock = SimClock{})
      : scheduler_{scheduler}, clock_{clock} {}
  PostgresNode(const PostgresNode&) = delete;
  PostgresNode& operator=(const PostgresNode&) = delete;

  bool up() const { return up_; }
  /// kill -9: connections end, what was answered stays.
  void stop();
  void start() { up_ = true; }

  /// The replica has caught up. Without effect while down.
  void replicate();
  /// The replica takes over, with what it had when it last caught up, in another timeline. Runs
  /// afterwards, with the same clock; a new replica begins with the same state.
  void promote_replica();

  void set_clock_rate(ClockRate rate) { clock_.set_rate(scheduler_.now(), rate); }
  void step_clock(Duration by);
  WallTime now() const override;

  /// Rises each time the server loses data, and each time its clock is stepped: leases may end
  /// early then.
  std::uint32_t era() const { return era_; }
  /// Rises each time all connections end.
  std::uint32_t life() const { return life_; }

  /// Precondition: up().
  BackendId connect(Client client);
  bool has(BackendId id) const { return backends_.contains(id); }
  /// The server ends it. Precondition: has(id).
  void terminate(BackendId id);
  /// Its client has gone. Without effect when it has ended already.
  void disconnect(BackendId id) { backends_.erase(id); }

  /// Precondition: up(). `by`: none for a connection of a pool.
  postgres::Answer run(const postgres::Call& call, BackendId by = {});

  const LeaseTables& tables() const { return data_.tables; }
  /// Whether another session than the one that asked last holds this number.
  bool attended(Attendance session) const override;

  /// No row is left, and the sequence begins anew. Sessions stay.
  void clear() { data_ = {}; }
  std::uint64_t last_token() const {
    return (data_.timeline << kTimelineShift) + data_.last_number;
  }

  /// One at a time; an empty one ends it.
  void observe(Observer observer) { observer_ = std::move(observer); }

  /// From now on its functions make this mistake.
  void set_slip(Slip slip) { slip_ = slip; }

 private:
  struct Data {
    LeaseTables tables{};
    std::uint64_t timeline{1};
    std::uint64_t last_number{0};
    /// What the log says of the sequence: it skips so far after a crash.
    std::uint64_t logged_number{0};
  };
  struct Backend {
    Client client;
    std::vector<Attendance> attends{};
    std::vector<Attendance> hears{};
  };

  std::uint64_t mint() override;
  void notify(Attendance session, const std::string& payload) override;
  Slip slip() const override { return slip_; }
  bool attend(Attendance session);
  void end_backends();

  const Scheduler& scheduler_;
  SimClock clock_;
  Data data_;
  Data replica_;
  bool up_{true};
  std::uint32_t era_{0};
  std::uint32_t life_{0};
  Slip slip_{Slip::none};
  /// Whose statement runs.
  BackendId asking_{};
  std::int32_t last_backend_{0};
  std::map<BackendId, Backend> backends_;
  Observer observer_;
};

}  // namespace holdfast::sim
