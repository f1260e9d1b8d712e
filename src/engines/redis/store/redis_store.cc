#include "engines/redis/store/redis_store.h"

#include <algorithm>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "engines/redis/store/store_call.h"

namespace holdfast::redis {
namespace {

/// Half of what a key remembers of requests and erased values.
constexpr Millis kTimeoutMax = std::chrono::minutes{5};

StoreError shutting_down() { return {Errc::shutting_down, "the client is being destroyed"}; }

StoreAnswer no_answer(const Error& error) { return {Unexpected{StoreError{error}}, Earlier::open}; }

}  // namespace

/// Calls back exactly once: a task that is unwound because its Env goes has an answer, too.
class RedisStore::Answer {
 public:
  Answer(std::shared_ptr<Gate> gate, StoreCallback callback)
      : gate_{std::move(gate)}, callback_{std::move(callback)} {}
  ~Answer() { give(Unexpected{shutting_down()}); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  /// Without effect when it was given before.
  void give(StoreResult result);

 private:
  std::shared_ptr<Gate> gate_;
  StoreCallback callback_;
};

/// Thread safety: under its mutex. The Env's thread may look at the port without.
class RedisStore::Gate {
 public:
  std::mutex mutex;
  /// Empty: the Env has gone.
  std::shared_ptr<RedisPort> port;
  std::map<Answer*, std::weak_ptr<Answer>> waiting;

  void shut();
};

void RedisStore::Answer::give(StoreResult result) {
  const StoreCallback callback = std::exchange(callback_, nullptr);
  if (!callback) return;
  {
    const std::lock_guard lock{gate_->mutex};
    gate_->waiting.erase(this);
  }
  callback(std::move(result));
}

void RedisStore::Gate::shut() {
  // Both go outside the lock: who is answered may ask again.
  std::shared_ptr<RedisPort> last_port;
  std::map<Answer*, std::weak_ptr<Answer>> last;
  {
    const std::lock_guard lock{mutex};
    last_port.swap(port);
    last.swap(waiting);
  }
  for (const auto& [address, weak] : last) {
    if (const auto answer = weak.lock()) answer->give(Unexpected{shutting_down()});
  }
}

/// Lasts as long as the Env.
class RedisStore::Sentinel {
 public:
  explicit Sentinel(std::shared_ptr<Gate> gate) : gate_{std::move(gate)} {}
  ~Sentinel() { gate_->shut(); }
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;

 private:
  std::shared_ptr<Gate> gate_;
};

RedisStore::RedisStore(Env& env, std::shared_ptr<RedisPort> port, StoreSettings settings)
    : env_{env},
      settings_{std::move(settings)},
      generation_{fork_generation()},
      gate_{std::make_shared<Gate>()} {
  settings_.timeout = std::min(settings_.timeout, kTimeoutMax);
  gate_->port = std::move(port);
  // Parked and not a task: those are unwound when the Env has already stopped taking new ones.
  env_.post([&env, sentinel = std::make_shared<Sentinel>(gate_)] {
    constexpr std::chrono::hours kCentury{24 * 365 * 100};
    env.park(env.now() + kCentury, Parked{Work{[sentinel] {}}});
  });
}

RedisStore::~RedisStore() {
  if (forked()) {
    dispatcher_.abandon();
  } else {
    gate_->shut();
  }
}

bool RedisStore::forked() const { return fork_generation() != generation_; }

StoreResult RedisStore::perform(const StoreRequest& request) {
  const auto promise = std::make_shared<std::promise<StoreResult>>();
  auto future = promise->get_future();
  begin(request, [promise](StoreResult result) { promise->set_value(std::move(result)); });
  return future.get();
}

void RedisStore::async_perform(StoreRequest request, StoreCallback callback) {
  // There is no thread to run it on; and begin() only refuses.
  if (forked()) return begin(std::move(request), std::move(callback));
  begin(std::move(request), [self = shared_from_this(), callback](StoreResult result) {
    self->dispatcher_.post([callback, result = std::move(result)] { callback(result); });
  });
}

void RedisStore::begin(StoreRequest request, StoreCallback callback) {
  if (forked()) {
    const StoreError error{Errc::shutting_down, "the process has forked since it connected"};
    return callback(Unexpected{error});
  }
  const auto answer = std::make_shared<Answer>(gate_, std::move(callback));
  {
    const std::lock_guard lock{gate_->mutex};
    if (gate_->port) {
      gate_->waiting.emplace(answer.get(), answer);
      return env_.spawn(run(shared_from_this(), std::move(request), answer));
    }
  }
  answer->give(Unexpected{shutting_down()});
}

Task<void> RedisStore::run(std::shared_ptr<RedisStore> self,
                           StoreRequest request,
                           std::shared_ptr<Answer> answer) {
  auto result = co_await self->settle(request);
  answer->give(std::move(result));
}

Task<StoreResult> RedisStore::settle(const StoreRequest& request) {
  // Braces around nothing do not keep together what belongs to a key.
  if (settings_.spread != Spread::one_server && request.key.starts_with('}')) {
    Error error{Errc::invalid_argument,
                "the key begins with }, which a Redis cluster cannot keep in one slot",
                "use a key that begins otherwise"};
    co_return Unexpected{StoreError{std::move(error)}};
  }
  const TimePoint answer_by = env_.now() + settings_.timeout;
  const StoreTicket ticket{
      .id = std::to_string(env_.draw()), .timeout = settings_.timeout, .who = settings_.who};
  // Repeated, once an attempt is out of which nobody knows if it was done.
  Attempt next = Attempt::first;
  SharedCall call = share(to_call(request, settings_.prefix, ticket, next));
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto reply = co_await gate_->port->eval(call, answer_by);
    StoreAnswer answer = reply ? read_store_answer(request, *reply) : no_answer(reply.error());
    const bool settled = next == Attempt::first || answer.earlier == Earlier::settled;
    if (reply && settled) co_return std::move(answer.result);
    const Errc code = answer.result.error().code;
    if (code == Errc::unknown_outcome && next == Attempt::first) {
      next = Attempt::repeated;
      call = share(to_call(request, settings_.prefix, ticket, next));
    }
    // A server that is loading, for one, can tell a little later.
    const bool may_help = code == Errc::unknown_outcome || code == Errc::unavailable;
    const Duration delay = backoff_delay(settings_.retry, attempt, env_.draw());
    if (!may_help || env_.now() + delay >= answer_by) {
      if (next == Attempt::repeated) answer.result = Unexpected{unanswered(request)};
      co_return std::move(answer.result);
    }
    co_await env_.sleep_for(delay);
  }
}

}  // namespace holdfast::redis
