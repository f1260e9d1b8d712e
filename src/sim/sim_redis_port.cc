#include "sim/sim_redis_port.h"

#include <optional>
#include <utility>

#include "base/alarm.h"

namespace holdfast::sim {
namespace {

std::string describe(const redis::Reply& reply) {
  using Kind = redis::Reply::Kind;
  switch (reply.kind) {
    case Kind::nil:
      return "nil";
    case Kind::integer:
      return std::to_string(reply.integer);
    case Kind::text:
      // An owner is long, and its first digits tell it from others.
      return reply.text.size() > 32 ? reply.text.substr(0, 4) + "…" + reply.text.substr(32)
                                    : reply.text;
    case Kind::error:
      return "error: " + reply.text;
    case Kind::array:
      break;
  }
  std::string text = "{";
  for (const redis::Reply& item : reply.items) {
    if (text.size() > 1) text += ", ";
    text += describe(item);
  }
  return text + "}";
}

}  // namespace

struct SimRedisPort::Pending {
  Pending(Env& env, redis::ScriptCall call_in) : call{std::move(call_in)}, arrived{env} {}

  redis::ScriptCall call;
  Alarm arrived;
  std::optional<Result<redis::Reply>> answer{};
};

// Messages under way outlive the port of a process that was killed, but not the world.
void SimRedisPort::send(std::shared_ptr<Pending> pending) {
  const std::uint64_t number = network_.next_number();
  const auto at_server =
      [&network = network_, &node = node_, ends = ends_, number, pending = std::move(pending)] {
        // A machine without a server on it refuses the connection.
        Result<redis::Reply> answer = Unexpected{Error{Errc::unavailable, "connection refused"}};
        if (node.up()) answer = run(network, node, ends, number, pending->call);
        auto at_client = [pending, answer = std::move(answer)]() mutable {
          // The second of two answers to a repeated request finds nobody who waits.
          if (pending->answer) return;
          pending->answer = std::move(answer);
          pending->arrived.ring();
        };
        network.carry(ends.server, ends.client, Direction::reply, number, std::move(at_client));
      };
  network_.carry(ends_.client, ends_.server, Direction::request, number, at_server);
}

redis::Reply SimRedisPort::run(Network& network,
                               RedisNode& node,
                               const Ends& ends,
                               std::uint64_t number,
                               const redis::ScriptCall& call) {
  redis::Reply reply = node.eval(call);
  Trace& trace = network.trace();
  trace.note(network.now(), EventKind::ran, ends.server, ends.client, number, call.script->name);
  if (trace.keeps()) trace.explain(describe(reply));
  return reply;
}

Task<Result<redis::Reply>> SimRedisPort::eval(redis::ScriptCall call, TimePoint answer_by) {
  const auto pending = std::make_shared<Pending>(env_, std::move(call));
  if (env_.strikes(SimEnv::Moment::any)) co_await SimEnv::pausing();
  send(pending);
  co_await pending->arrived.wait_until(answer_by);
  if (pending->answer) co_return *std::move(pending->answer);
  co_return Unexpected{Error{Errc::unknown_outcome, "no answer from the server in time"}};
}

}  // namespace holdfast::sim
