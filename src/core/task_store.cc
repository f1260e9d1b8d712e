#include "core/task_store.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "core/answer.h"

namespace holdfast::core {
namespace {

StoreError shutting_down() { return {Errc::shutting_down, "the client is being destroyed"}; }

}  // namespace

/// Calls back exactly once: a task that is unwound because its Env goes has an answer, too.
class TaskStore::Answer {
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
class TaskStore::Gate {
 public:
  std::mutex mutex;
  /// Empty: the Env has gone.
  std::shared_ptr<void> port;
  std::map<Answer*, std::weak_ptr<Answer>> waiting;

  void shut();
};

void TaskStore::Answer::give(StoreResult result) {
  const StoreCallback callback = std::exchange(callback_, nullptr);
  if (!callback) return;
  {
    const std::lock_guard lock{gate_->mutex};
    gate_->waiting.erase(this);
  }
  callback(std::move(result));
}

void TaskStore::Gate::shut() {
  // Both go outside the lock: who is answered may ask again.
  std::shared_ptr<void> last_port;
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
class TaskStore::Sentinel {
 public:
  explicit Sentinel(std::shared_ptr<Gate> gate) : gate_{std::move(gate)} {}
  ~Sentinel() { gate_->shut(); }
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;

 private:
  std::shared_ptr<Gate> gate_;
};

TaskStore::TaskStore(Env& env, std::shared_ptr<void> port)
    : env_{env}, generation_{fork_generation()}, gate_{std::make_shared<Gate>()} {
  gate_->port = std::move(port);
  // Parked and not a task: those are unwound when the Env has already stopped taking new ones.
  env_.post([&env, sentinel = std::make_shared<Sentinel>(gate_)] {
    constexpr std::chrono::hours kCentury{24 * 365 * 100};
    env.park(env.now() + kCentury, Parked{Work{[sentinel] {}}});
  });
}

TaskStore::~TaskStore() {
  if (forked()) {
    dispatcher_.abandon();
  } else {
    gate_->shut();
  }
}

bool TaskStore::forked() const { return fork_generation() != generation_; }

StoreResult TaskStore::perform(const StoreRequest& request) {
  const auto known = std::make_shared<core::Answer<StoreResult>>();
  const auto answer = admit([known](StoreResult result) { known->set(std::move(result)); });
  if (answer) {
    auto task = run(shared_from_this(), request, answer);
    env_.spawn_and_wait(std::move(task), *known, TimePoint::max());
  }
  return known->take();
}

void TaskStore::async_perform(StoreRequest request, StoreCallback callback) {
  // There is no thread to run it on; and it is only refused.
  if (forked()) {
    admit(std::move(callback));
    return;
  }
  auto deliver = [self = shared_from_this(), callback = std::move(callback)](StoreResult result) {
    self->dispatcher_.post([callback, result = std::move(result)] { callback(result); });
  };
  const auto answer = admit(std::move(deliver));
  // Under the lock: whoever has shut the gate may destroy the Env next.
  const std::lock_guard lock{gate_->mutex};
  if (answer && gate_->port) env_.spawn(run(shared_from_this(), std::move(request), answer));
}

std::shared_ptr<TaskStore::Answer> TaskStore::admit(StoreCallback callback) {
  if (forked()) {
    callback(
        Unexpected{StoreError{Errc::shutting_down, "the process has forked since it connected"}});
    return nullptr;
  }
  auto answer = std::make_shared<Answer>(gate_, std::move(callback));
  {
    const std::lock_guard lock{gate_->mutex};
    if (gate_->port) {
      gate_->waiting.emplace(answer.get(), answer);
      return answer;
    }
  }
  answer->give(Unexpected{shutting_down()});
  return nullptr;
}

Task<void> TaskStore::run(std::shared_ptr<TaskStore> self,
                          StoreRequest request,
                          std::shared_ptr<Answer> answer) {
  auto result = co_await self->settle(request);
  answer->give(std::move(result));
}

StoreError unanswered(const StoreRequest& request) {
  if (std::holds_alternative<GetKey>(request.operation)) {
    return {Errc::unavailable, "the server did not answer in time"};
  }
  return {Errc::unknown_outcome,
          "the server's answer was lost: it may or may not have been done",
          "repeat the call on a resource; read a key to see"};
}

}  // namespace holdfast::core
