#include "sim/sim_client.h"

#include <utility>

namespace holdfast::sim {

SimClient::SimClient(std::string name,
                     const Place& place,
                     std::uint64_t seed,
                     redis::Settings settings)
    : name_{std::move(name)},
      scheduler_{place.scheduler},
      trace_{place.trace},
      env_{place.scheduler, seed},
      port_{std::make_shared<SimRedisPort>(env_, place.network, place.node, link_)},
      session_{std::make_shared<redis::RedisSession>(env_, port_, std::move(settings))} {}

redis::RedisSession::Listener SimClient::listener(
    const std::shared_ptr<LeaseView::Shared>& shared) {
  return [this, weak = std::weak_ptr{shared}](const LeaseEvent& event) {
    std::string line = name_ + " hears: ";
    line += to_string(event.state);
    line += ' ';
    line += to_string(event.reason);
    trace_.note(scheduler_.now(), line);
    if (const auto view = weak.lock()) view->heard.push_back({scheduler_.now(), event});
  };
}

Task<Acquired> SimClient::acquire(LockName name, Millis ttl, Duration patience) {
  const auto shared = std::make_shared<LeaseView::Shared>(LeaseView::Shared{&env_, nullptr, {}});
  auto hear = listener(shared);
  const TimePoint answer_by = env_.now() + patience;
  std::stop_token never;
  auto lease = co_await session_->try_acquire(name, ttl, answer_by, never, std::move(hear));
  std::string line = name_ + " asked for " + name.text() + ": ";
  line += lease ? std::to_string((*lease)->held().token.value()) : to_string(lease.error().code);
  trace_.note(scheduler_.now(), line);
  if (!lease) co_return Unexpected{std::move(lease).error()};
  shared->lease = *std::move(lease);
  co_return LeaseView{shared};
}

Task<ReleaseOutcome> SimClient::release(LeaseView lease, Duration patience) {
  const TimePoint answer_by = env_.now() + patience;
  const ReleaseOutcome outcome = co_await session_->release(lease.shared_->lease, answer_by);
  std::string line = name_ + " released: ";
  line += to_string(outcome);
  trace_.note(scheduler_.now(), line);
  co_return outcome;
}

void SimClient::kill() {
  env_.kill();
  session_.reset();
}

}  // namespace holdfast::sim
