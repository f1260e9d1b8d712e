#include "sim/redis/sim_redis_port.h"

#include <array>
#include <optional>
#include <utility>

#include "sim/world/answer_box.h"

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
  Pending(Env& env, redis::SharedCall call_in) : call{std::move(call_in)}, box{env} {}

  redis::SharedCall call;
  AnswerBox box;
  /// What the server answered to the request and to its repetition, on its way or here.
  std::array<std::optional<Result<redis::Reply>>, 2> answers{};
  std::size_t answered{0};
  /// Which of them came first.
  std::optional<std::size_t> first{};
};

// Messages under way outlive the port of a process that was killed, but not the world.
void SimRedisPort::send(std::shared_ptr<Pending> pending) {
  const std::uint64_t number = network_.next_number();
  auto at_server =
      [&network = network_, &node = node_, ends = ends_, number, pending = std::move(pending)] {
        const std::size_t index = pending->answered++;
        // A machine without a server on it refuses the connection.
        if (node.up()) {
          pending->answers.at(index) = run(network, node, ends, number, *pending->call);
        } else {
          pending->answers.at(index) = Unexpected{Error{Errc::unavailable, "connection refused"}};
        }
        auto at_client = [pending, index] {
          if (pending->first) return;
          pending->first = index;
          pending->box.call();
        };
        network.carry(ends.server, ends.client, Direction::reply, number, std::move(at_client));
      };
  network_.carry(ends_.client, ends_.server, Direction::request, number, std::move(at_server));
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

Task<Result<redis::Reply>> SimRedisPort::eval(redis::SharedCall call, TimePoint answer_by) {
  const auto pending = std::make_shared<Pending>(env_, std::move(call));
  if (env_.strikes(SimEnv::Moment::any)) co_await SimEnv::pausing();
  send(pending);
  co_await pending->box.wait_until(answer_by);
  if (pending->first) co_return *std::move(pending->answers.at(*pending->first));
  co_return Unexpected{Error{Errc::unknown_outcome, "no answer from the server in time"}};
}

}  // namespace holdfast::sim
