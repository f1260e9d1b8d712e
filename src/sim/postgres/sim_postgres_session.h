// SimPostgresSession: one session of a simulated process with a model server, over a connection
// that keeps the order, and whose ends are told by keep-alives that the other is gone.
//
// Thread safety: none. Lifetime: shared by whoever opened it, its timers and what is under way to
// it; leave() is the last that is called.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "sim/postgres/sim_postgres_port.h"
#include "sim/world/sim_pipe.h"

namespace holdfast::sim {

class SimPostgresSession : public std::enable_shared_from_this<SimPostgresSession> {
 public:
  SimPostgresSession(const SimPostgresPort::Route& route, postgres::OnEvent on_event);

  void begin(TimePoint connected_by);
  void send(postgres::SharedCall call, TimePoint answer_by, postgres::OnAnswer on_answer);
  std::int32_t backend() const { return phase_ == Phase::connected ? backend_ : 0; }
  /// Nothing is told any more.
  void leave();

 private:
  enum class Phase : std::uint8_t { connecting, connected, over };

  struct Pending {
    std::uint64_t number{0};
    postgres::SharedCall call;
    postgres::OnAnswer on_answer;
    ParkingId waiting{};
    bool left{false};
    bool over{false};
  };
  using PendingPtr = std::shared_ptr<Pending>;

  // At the server.
  void accept();
  void run(std::uint64_t number, const postgres::SharedCall& call);
  void say_back(std::uint64_t number, std::function<void()> at_client);
  /// Asks both ends whether they still hear each other.
  void probe(int missed);

  // At the client.
  void connect();
  void welcome(std::int32_t backend);
  void depart(const PendingPtr& pending);
  void end(const Error& why);
  void finish(const PendingPtr& pending, Result<postgres::Answer> answer);
  void tell(const postgres::SessionEvent& event);
  void hang_up();

  SimPostgresPort::Route route_;
  postgres::OnEvent on_event_;
  Phase phase_{Phase::connecting};
  std::shared_ptr<SimPipe> up_;
  std::shared_ptr<SimPipe> down_;
  std::int32_t backend_{0};
  std::deque<PendingPtr> pending_;
  /// Whether its machine goes with the process when that is killed, without a word to anybody.
  bool vanishes_;
  bool vanished_{false};
  /// At the server.
  BackendId there_{};
};

}  // namespace holdfast::sim
