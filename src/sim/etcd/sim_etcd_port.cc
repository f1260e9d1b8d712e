#include "sim/etcd/sim_etcd_port.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/etcd/sim_etcd_route.h"
#include "sim/etcd/sim_etcd_watches.h"

namespace holdfast::sim {
namespace {

using namespace etcd;
using Route = std::shared_ptr<SimEtcdRoute>;

template <class Answer>
struct Pending {
  Pending(Route route_in, std::string_view name_in) : route{std::move(route_in)}, name{name_in} {}

  Route route;
  std::string_view name;
  std::function<Result<Answer>(EtcdCluster& cluster, std::size_t member)> run{};
  ParkingId waiting{};
  std::size_t member{0};
  std::size_t refusals{0};
  bool arrived{false};
  /// The caller has its answer.
  bool over{false};
  std::optional<Result<Answer>> answer{};

  Result<Answer> take_answer() {
    over = true;
    if (answer) return *std::move(answer);
    route->leave(member);
    return Unexpected{Error{Errc::unknown_outcome, "no answer from the member in time"}};
  }
};

std::string describe(const TxnAnswer& answer) {
  std::string text = answer.held ? "held" : "not held";
  text += " at revision " + std::to_string(answer.header.revision);
  for (const OperationAnswer& one : answer.answers) {
    for (const KeyValue& entry : one.found) {
      text += ", " + entry.key + " of " + std::to_string(entry.created);
    }
  }
  return text;
}

std::string describe(const LeaseAnswer& answer) {
  return answer.ttl == Seconds{0} ? "no such lease" : std::to_string(answer.ttl.count()) + " s";
}

template <class Answer>
Result<Answer> run(Pending<Answer>& pending, std::uint64_t number) {
  const SimEtcdRoute& route = *pending.route;
  Result<Answer> answer = pending.run(route.cluster, pending.member);
  Trace& trace = route.network.trace();
  const HostId server = route.host(pending.member);
  trace.note(route.network.now(), EventKind::ran, server, route.ends.client, number, pending.name);
  if (trace.keeps()) trace.explain(answer ? describe(*answer) : answer.error().message);
  return answer;
}

template <class Answer>
void depart(const std::shared_ptr<Pending<Answer>>& pending);

template <class Answer>
void reply(const std::shared_ptr<Pending<Answer>>& pending,
           std::uint64_t number,
           Result<Answer> answer) {
  auto at_client = [pending, answer = std::move(answer)] {
    if (pending->answer) return;
    pending->answer = answer;
    pending->route->env.wake(pending->waiting);
  };
  const SimEtcdRoute& route = *pending->route;
  route.network.carry(route.host(pending->member),
                      route.ends.client,
                      Direction::reply,
                      number,
                      std::move(at_client));
}

// It has not run, so another member may be asked.
template <class Answer>
void refuse(const std::shared_ptr<Pending<Answer>>& pending, std::uint64_t number) {
  auto at_client = [pending] {
    SimEtcdRoute& to = *pending->route;
    to.leave(pending->member);
    if (pending->over) return;
    if (++pending->refusals < to.ends.members.size()) {
      to.env.post([pending] {
        if (!pending->over) depart(pending);
      });
      return;
    }
    pending->answer = Unexpected{Error{Errc::unavailable, "no member has a leader"}};
    to.env.wake(pending->waiting);
  };
  const SimEtcdRoute& route = *pending->route;
  route.network.carry(route.host(pending->member),
                      route.ends.client,
                      Direction::reply,
                      number,
                      std::move(at_client));
}

template <class Answer>
void arrive(const std::shared_ptr<Pending<Answer>>& pending, std::uint64_t number) {
  if (std::exchange(pending->arrived, true)) return;
  EtcdCluster& cluster = pending->route->cluster;
  switch (cluster.receive(pending->member)) {
    case EtcdCluster::Reception::runs:
      reply(pending, number, run(*pending, number));
      return;
    case EtcdCluster::Reception::refused:
      refuse(pending, number);
      return;
    case EtcdCluster::Reception::waits:
      cluster.when_led([pending, number] { reply(pending, number, run(*pending, number)); });
      return;
    case EtcdCluster::Reception::vanishes:
      return;
  }
}

template <class Answer>
void depart(const std::shared_ptr<Pending<Answer>>& pending) {
  SimEtcdRoute& route = *pending->route;
  pending->member = route.asks;
  pending->arrived = false;
  const std::uint64_t number = route.network.next_number();
  const HostId server = route.host(pending->member);
  route.network.carry(route.ends.client, server, Direction::request, number, [pending, number] {
    arrive(pending, number);
  });
}

// A process that was killed says nothing more, whatever its tasks do while they unwind. The answer
// is a step of the process, so one that was killed meanwhile does not hear it.
template <class Answer, class Run, class OnAnswer>
void send(
    const Route& route, std::string_view name, Run run, TimePoint answer_by, OnAnswer on_answer) {
  SimEnv& env = route->env;
  if (env.killed()) return;
  const auto pending = std::make_shared<Pending<Answer>>(route, name);
  pending->run = std::move(run);
  auto take_up = [pending, on_answer = std::move(on_answer)]() mutable {
    on_answer(pending->take_answer());
  };
  pending->waiting = env.call_at(answer_by, std::move(take_up));
  if (env.strikes(SimEnv::Moment::any)) {
    env.post([pending] { depart(pending); });
  } else {
    depart(pending);
  }
}

}  // namespace

SimEtcdPort::SimEtcdPort(SimEnv& env, Network& network, EtcdCluster& cluster, EtcdEnds ends)
    : route_{std::make_shared<SimEtcdRoute>(SimEtcdRoute{
          .env = env, .network = network, .cluster = cluster, .ends = std::move(ends)})},
      watches_{std::make_shared<SimEtcdWatches>(SimEtcdWatches{.route = route_})} {}

SimEtcdPort::~SimEtcdPort() { end_all(*watches_); }

void SimEtcdPort::commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) {
  auto run = [txn = std::move(txn)](EtcdCluster& cluster, std::size_t member) {
    return cluster.commit(member, *txn);
  };
  send<TxnAnswer>(route_, "txn", std::move(run), answer_by, std::move(on_answer));
}

void SimEtcdPort::grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) {
  const auto run = [lease, ttl](EtcdCluster& cluster, std::size_t member) {
    return cluster.grant(member, lease, ttl);
  };
  send<LeaseAnswer>(route_, "grant", run, answer_by, std::move(on_answer));
}

void SimEtcdPort::keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  const auto run = [lease](EtcdCluster& cluster, std::size_t member) {
    return cluster.keep_alive(member, lease);
  };
  send<LeaseAnswer>(route_, "keep-alive", run, answer_by, std::move(on_answer));
}

void SimEtcdPort::revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  const auto run = [lease](EtcdCluster& cluster, std::size_t member) {
    return cluster.revoke(member, lease);
  };
  send<LeaseAnswer>(route_, "revoke", run, answer_by, std::move(on_answer));
}

void SimEtcdPort::look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  const auto run = [lease](EtcdCluster& cluster, std::size_t member) {
    return cluster.look_up(member, lease);
  };
  send<LeaseAnswer>(route_, "look-up", run, answer_by, std::move(on_answer));
}

WatchId SimEtcdPort::watch(Watch watch, OnWatch on_watch) {
  return begin_watch(watches_, std::move(watch), std::move(on_watch));
}

void SimEtcdPort::unwatch(WatchId id) { end_watch(*watches_, id); }

}  // namespace holdfast::sim
