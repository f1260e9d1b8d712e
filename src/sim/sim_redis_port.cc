#include "sim/sim_redis_port.h"

#include <optional>
#include <utility>

#include "base/alarm.h"

namespace holdfast::sim {

struct SimRedisPort::Pending {
  explicit Pending(Env& env) : arrived{env} {}
  Alarm arrived;
  std::optional<Result<redis::Reply>> answer{};
};

void SimRedisPort::send(redis::ScriptCall call, std::shared_ptr<Pending> pending) {
  const auto at_server = [this, call = std::move(call), pending = std::move(pending)] {
    // A machine without a server on it refuses the connection.
    Result<redis::Reply> answer = Unexpected{Error{Errc::unavailable, "connection refused"}};
    if (node_.up()) answer = node_.eval(call);
    network_.carry(link_, Direction::reply, [pending, answer = std::move(answer)] {
      pending->answer = answer;
      pending->arrived.ring();
    });
  };
  network_.carry(link_, Direction::request, at_server);
}

Task<Result<redis::Reply>> SimRedisPort::eval(redis::ScriptCall call, TimePoint answer_by) {
  const auto pending = std::make_shared<Pending>(env_);
  send(std::move(call), pending);
  co_await pending->arrived.wait_until(answer_by);
  if (pending->answer) co_return *std::move(pending->answer);
  co_return Unexpected{Error{Errc::unknown_outcome, "no answer from the server in time"}};
}

}  // namespace holdfast::sim
