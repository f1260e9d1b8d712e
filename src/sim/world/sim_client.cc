#include "sim/world/sim_client.h"

#include <optional>
#include <utility>

#include "sim/world/answer_box.h"

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
  Ports ports = place_.servers.reach(place_.scheduler, life.env, place_.network, host_);
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
  return [this, weak = std::weak_ptr{shared}, &env = *shared->env](const LeaseEvent& event) {
    // The session of a process that was killed ends in peace: nobody is there to hear.
    if (env.killed()) return;
    const auto view = weak.lock();
    const bool known = view && view->lease;
    const std::uint64_t token = known ? view->lease->held().token.value() : 0;
    note(EventKind::warned, token, to_string(event.state));
    place_.network.trace().explain(to_string(event.reason));
    if (view) view->heard.push_back({place_.scheduler.now(), event});
  };
}

Task<Acquired> SimClient::acquire(LockName name, Millis ttl, Duration patience, core::Claim claim) {
  const auto shared = std::make_shared<LeaseView::Shared>(LeaseView::Shared{&env(), nullptr, {}});
  auto hear = listener(shared);
  const TimePoint wait_until = env().now() + patience;
  const std::stop_token never;
  const core::LeaseSession::Wanted wanted{.name = name, .ttl = ttl, .claim = claim};
  note(EventKind::asked, 0, name.text());
  auto lease = co_await session().acquire(wanted, wait_until, never, std::move(hear));
  if (!lease) {
    note(EventKind::refused, 0, to_string(lease.error().code));
    place_.network.trace().explain(name.text());
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
    Pending(Env& env, const RegisterRequest& asked) : request{asked}, box{env} {}
    RegisterRequest request;
    AnswerBox box;
    std::optional<RegisterAnswer> answer{};
  };
  const auto pending = std::make_shared<Pending>(env(), request);
  const std::uint64_t number = place_.network.next_number();
  auto at_resource = [this, number, pending] {
    Servers& servers = place_.servers;
    const RegisterRequest& asked = pending->request;
    const RegisterAnswer answer = servers.resource.serve(asked, place_.scheduler.now());
    const bool accepted = answer.verdict == Verdict::accepted;
    place_.network.trace().note(place_.scheduler.now(),
                                accepted ? EventKind::served : EventKind::found_stale,
                                servers.resource_host,
                                host_,
                                number,
                                to_string(asked.verb));
    auto at_client = [pending, answer] {
      pending->answer = answer;
      pending->box.call();
    };
    place_.network.carry(
        servers.resource_host, host_, Direction::reply, number, std::move(at_client));
  };
  place_.network.carry(
      host_, place_.servers.resource_host, Direction::request, number, std::move(at_resource));
  const TimePoint answer_by = env().now() + patience;
  co_await pending->box.wait_until(answer_by);
  if (pending->answer) co_return *pending->answer;
  co_return Unexpected{Error{Errc::unknown_outcome, "the resource did not answer in time"}};
}

}  // namespace holdfast::sim
