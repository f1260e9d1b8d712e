#include "sim/redis/sim_redis_port.h"

#include <array>
#include <optional>
#include <utility>

#include "sim/redis/sim_subscription.h"

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
  explicit Pending(SimEnv& env_in, redis::SharedCall call_in)
      : env{env_in}, call{std::move(call_in)} {}

  SimEnv& env;
  redis::SharedCall call;
  ParkingId waiting{};
  /// What the server answered to the request and to its repetition, on its way or here.
  std::array<std::optional<Result<redis::Reply>>, 2> answers{};
  std::size_t answered{0};
  /// Which of them came first.
  std::optional<std::size_t> first{};

  Result<redis::Reply> take_answer() {
    if (first) return *std::move(answers.at(*first));
    return Unexpected{Error{Errc::unknown_outcome, "no answer from the server in time"}};
  }
};

// Messages under way outlive the port of a process that was killed, but not the world.
void SimRedisPort::depart(Network& network,
                          RedisNode& node,
                          const Ends& ends,
                          std::shared_ptr<Pending> pending) {
  const std::uint64_t number = network.next_number();
  auto at_server = [&network, &node, ends, number, pending = std::move(pending)] {
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
      pending->env.wake(pending->waiting);
    };
    network.carry(ends.server, ends.client, Direction::reply, number, std::move(at_client));
  };
  network.carry(ends.client, ends.server, Direction::request, number, std::move(at_server));
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

// A process that was killed says nothing more, whatever its tasks do while they unwind. The answer
// is a step of the process, so one that was killed meanwhile does not hear it.
void SimRedisPort::send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) {
  if (env_.killed()) return;
  const auto pending = std::make_shared<Pending>(env_, std::move(call));
  auto take_up = [pending, on_answer = std::move(on_answer)]() mutable {
    on_answer(pending->take_answer());
  };
  pending->waiting = env_.call_at(answer_by, std::move(take_up));
  if (env_.strikes(SimEnv::Moment::any)) {
    env_.post([&network = network_, &node = node_, ends = ends_, pending] {
      depart(network, node, ends, pending);
    });
  } else {
    depart(network_, node_, ends_, pending);
  }
}

SimRedisPort::SimRedisPort(SimEnv& env, Network& network, RedisNode& node, Ends ends)
    : env_{env},
      network_{network},
      node_{node},
      ends_{ends},
      subscriptions_{std::make_shared<SimSubscriptions>(
          SimSubscriptions{.env = env, .network = network, .node = node, .ends = ends})} {}

SimRedisPort::~SimRedisPort() { end_all(*subscriptions_); }

void SimRedisPort::subscribe(std::string channel, redis::OnHeard on_heard) {
  hear_channel(subscriptions_, std::move(channel), std::move(on_heard));
}

void SimRedisPort::unsubscribe(const std::string& channel) {
  end_channel(*subscriptions_, channel);
}

}  // namespace holdfast::sim
