#include "sim/sim_client.h"

#include <optional>
#include <utility>

#include "base/alarm.h"
#include "sim/sim_redis_port.h"

namespace holdfast::sim {

SimClient::SimClient(std::string name,
                     const Place& place,
                     std::uint64_t seed,
                     const EngineMaker& maker)
    : name_{std::move(name)},
      place_{place},
      maker_{maker},
      chance_{seed},
      host_{place.network.add_host()} {
  restart();
}

void SimClient::restart() {
  lives_.push_back(std::make_unique<Life>(place_.scheduler, chance_.draw()));
  Life& life = *lives_.back();
  Ports ports;
  const Servers& servers = place_.servers;
  for (std::size_t i = 0; i < servers.nodes.size(); ++i) {
    const SimRedisPort::Ends ends{.client = host_, .server = servers.node_hosts[i]};
    ports.push_back(
        std::make_shared<SimRedisPort>(life.env, place_.network, *servers.nodes[i], ends));
  }
  life.session = std::make_shared<core::LeaseSession>(life.env, maker_(life.env, std::move(ports)));
}

void SimClient::kill() {
  lives_.back()->env.kill();
  lives_.back()->session.reset();
}

void SimClient::note(EventKind kind, std::uint64_t number, std::string_view text) {
  place_.network.trace().note(place_.scheduler.now(), kind, host_, {}, number, text);
}

core::LeaseSession::Listener SimClient::listener(const std::shared_ptr<LeaseView::Shared>& shared) {
  return [this, weak = std::weak_ptr{shared}](const LeaseEvent& event) {
    note(EventKind::warned, 0, to_string(event.state));
    place_.network.trace().explain(to_string(event.reason));
    if (const auto view = weak.lock()) {
      view->heard.push_back({place_.scheduler.now(), event});
    }
  };
}

Task<Acquired> SimClient::acquire(LockName name, Millis ttl, Duration patience) {
  const auto shared = std::make_shared<LeaseView::Shared>(LeaseView::Shared{&env(), nullptr, {}});
  auto hear = listener(shared);
  const TimePoint answer_by = env().now() + patience;
  std::stop_token never;
  note(EventKind::asked, 0, name.text());
  auto lease = co_await session().try_acquire(name, ttl, answer_by, never, std::move(hear));
  if (!lease) {
    note(EventKind::refused, 0, to_string(lease.error().code));
    co_return Unexpected{std::move(lease).error()};
  }
  note(EventKind::granted, (*lease)->held().token.value(), name.text());
  shared->lease = *std::move(lease);
  co_return LeaseView{shared};
}

Task<ReleaseOutcome> SimClient::release(LeaseView lease, Duration patience) {
  const TimePoint answer_by = env().now() + patience;
  const ReleaseOutcome outcome = co_await session().release(lease.shared_->lease, answer_by);
  note(EventKind::released, lease.token().value(), to_string(outcome));
  co_return outcome;
}

Task<Result<RegisterAnswer>> SimClient::operate(RegisterRequest request, Duration patience) {
  struct Pending {
    explicit Pending(Env& env) : arrived{env} {}
    Alarm arrived;
    std::optional<RegisterAnswer> answer{};
  };
  const auto pending = std::make_shared<Pending>(env());
  const std::uint64_t number = place_.network.next_number();
  const auto at_resource = [this, request, number, pending] {
    Servers& servers = place_.servers;
    const RegisterAnswer answer = servers.resource.serve(request, place_.scheduler.now());
    const bool accepted = answer.verdict == Verdict::accepted;
    place_.network.trace().note(place_.scheduler.now(),
                                accepted ? EventKind::served : EventKind::found_stale,
                                servers.resource_host,
                                host_,
                                number,
                                to_string(request.verb));
    const auto at_client = [pending, answer] {
      pending->answer = answer;
      pending->arrived.ring();
    };
    place_.network.carry(servers.resource_host, host_, Direction::reply, number, at_client);
  };
  place_.network.carry(
      host_, place_.servers.resource_host, Direction::request, number, at_resource);
  const TimePoint answer_by = env().now() + patience;
  co_await pending->arrived.wait_until(answer_by);
  if (pending->answer) co_return *pending->answer;
  co_return Unexpected{Error{Errc::unknown_outcome, "the resource did not answer in time"}};
}

}  // namespace holdfast::sim
