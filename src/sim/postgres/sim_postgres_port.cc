#include "sim/postgres/sim_postgres_port.h"

#include <string>
#include <utility>

#include "sim/postgres/sim_postgres_session.h"

namespace holdfast::sim {
namespace {

using namespace postgres;

constexpr std::size_t kOwnerDigits = 32;

std::string describe(const Answer& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return "error " + refusal->sqlstate;
  std::string text;
  for (const Row& row : std::get<Rows>(answer)) {
    text += text.empty() ? "(" : ", (";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ", ";
      const std::string cell = row[i].value_or("-");
      // An owner is long, and its first digits tell it from others.
      text += cell.size() == kOwnerDigits ? cell.substr(0, 4) + "…" : cell;
    }
    text += ")";
  }
  return text;
}

class Handle final : public PostgresSession {
 public:
  explicit Handle(std::shared_ptr<SimPostgresSession> session) : session_{std::move(session)} {}
  ~Handle() override { session_->leave(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) override {
    session_->send(std::move(call), answer_by, std::move(on_answer));
  }
  std::int32_t backend() const override { return session_->backend(); }

 private:
  std::shared_ptr<SimPostgresSession> session_;
};

}  // namespace

void note_run(const SimPostgresPort::Route& route,
              std::uint64_t number,
              const Call& call,
              const Answer& answer) {
  Trace& trace = route.network.trace();
  const PostgresEnds& ends = route.ends;
  const std::string_view name = call.statement->name;
  trace.note(route.network.now(), EventKind::ran, ends.server, ends.client, number, name);
  if (trace.keeps()) trace.explain(describe(answer));
}

struct SimPostgresPort::Pending {
  SharedCall call;
  std::shared_ptr<Pool> pool;
  ParkingId waiting{};
  /// What it left with.
  std::optional<std::uint32_t> life{};
  /// On its way, or here.
  Result<Answer> answer{Unexpected{Error{Errc::unknown_outcome, "no answer in time"}}};
  std::optional<std::uint32_t> life_there{};
  bool here{false};

  Result<Answer> take_answer() {
    if (here) return std::move(answer);
    return Unexpected{Error{Errc::unknown_outcome, "no answer from the server in time"}};
  }
};

// A connection that broke may have carried the statement before; one that never was did not.
void SimPostgresPort::arrive(const Route& route, std::uint64_t number, Pending& pending) {
  PostgresNode& node = route.node;
  if (!node.up() && !pending.life) {
    pending.answer = Unexpected{Error{Errc::unavailable, "connection refused"}};
    return;
  }
  if (!node.up() || (pending.life && *pending.life != node.life())) {
    pending.answer = Unexpected{Error{Errc::unknown_outcome, "the server ended the connection"}};
    return;
  }
  Answer answer = node.run(*pending.call);
  note_run(route, number, *pending.call, answer);
  pending.answer = std::move(answer);
  pending.life_there = node.life();
}

// Messages under way outlive the port of a process that was killed, but not the world.
void SimPostgresPort::depart(const Route& route, const std::shared_ptr<Pending>& pending) {
  pending->life = pending->pool->life;
  const std::uint64_t number = route.network.next_number();
  auto at_server = [route, number, pending] {
    arrive(route, number, *pending);
    auto at_client = [&env = route.env, pending, pooler = route.pooler] {
      pending->here = true;
      pending->pool->life = pending->life_there;
      if (pending->life_there) {
        pending->pool->direct = pooler == Pooler::yes ? Direct::no : Direct::yes;
      }
      env.wake(pending->waiting);
    };
    const PostgresEnds& ends = route.ends;
    route.network.carry(ends.server, ends.client, Direction::reply, number, std::move(at_client));
  };
  const PostgresEnds& ends = route.ends;
  route.network.carry(ends.client, ends.server, Direction::request, number, std::move(at_server));
}

// A process that was killed says nothing more, whatever its tasks do while they unwind.
void SimPostgresPort::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  if (route_.env.killed()) return;
  const auto pending = std::make_shared<Pending>();
  pending->call = std::move(call);
  pending->pool = pool_;
  auto take_up = [pending, on_answer = std::move(on_answer)]() mutable {
    on_answer(pending->take_answer());
  };
  pending->waiting = route_.env.call_at(answer_by, std::move(take_up));
  if (route_.env.strikes(SimEnv::Moment::any)) {
    route_.env.post([route = route_, pending] { depart(route, pending); });
  } else {
    depart(route_, pending);
  }
}

std::unique_ptr<PostgresSession> SimPostgresPort::open(TimePoint connected_by, OnEvent on_event) {
  auto session = std::make_shared<SimPostgresSession>(route_, std::move(on_event));
  session->begin(connected_by);
  return std::make_unique<Handle>(std::move(session));
}

}  // namespace holdfast::sim
