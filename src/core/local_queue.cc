#include "core/local_queue.h"

#include <deque>
#include <map>
#include <utility>

#include "base/alarm.h"
#include "base/assert.h"

namespace holdfast::core {

// The front of a line is at the engine, the others wait for their alarms.
struct LocalQueue::Line {
  std::deque<std::shared_ptr<Alarm>> tasks;
};

struct LocalQueue::State {
  explicit State(Env& env_in) : env{env_in} {}

  bool is_first(const LockName& name, const std::shared_ptr<Alarm>& task) const {
    return lines.at(name).tasks.front() == task;
  }

  void leave(const LockName& name, const std::shared_ptr<Alarm>& task) {
    const auto line = lines.find(name);
    HOLDFAST_ASSERT(line != lines.end());
    const bool was_first = is_first(name, task);
    std::erase(line->second.tasks, task);
    if (line->second.tasks.empty()) {
      lines.erase(line);
    } else if (was_first) {
      line->second.tasks.front()->ring();
    }
  }

  Env& env;
  std::map<LockName, Line> lines{};
};

LocalQueue::Turn::Turn(std::shared_ptr<State> state, LockName name, Met met)
    : state_{std::move(state)}, name_{std::move(name)}, met_{met} {}

LocalQueue::Turn& LocalQueue::Turn::operator=(Turn&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  state_ = std::move(other.state_);
  name_ = std::move(other.name_);
  met_ = other.met_;
  return *this;
}

void LocalQueue::Turn::let_go() noexcept {
  const auto state = std::exchange(state_, nullptr);
  if (!state) return;
  state->leave(name_, state->lines.at(name_).tasks.front());
}

LocalQueue::LocalQueue(Env& env) : state_{std::make_shared<State>(env)} {}

std::size_t LocalQueue::names() const { return state_->lines.size(); }

namespace {

// Takes a task out of its line however its wait ends, unwinding included.
template <class Leave>
class Place {
 public:
  explicit Place(Leave leave) : leave_{std::move(leave)} {}
  ~Place() {
    if (taken_) leave_();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void keep() { taken_ = false; }

 private:
  Leave leave_;
  bool taken_{true};
};

}  // namespace

Task<Result<LocalQueue::Turn>> LocalQueue::enter(LockName name,
                                                 Mode mode,
                                                 TimePoint give_up_at,
                                                 std::stop_token stop) {
  const std::shared_ptr<State> state = state_;
  if (mode != Mode::exclusive) co_return Turn{nullptr, std::move(name), Met::nobody};
  const auto alarm = std::make_shared<Alarm>(state->env);
  state->lines[name].tasks.push_back(alarm);
  const auto leave = [&state, &name, &alarm] { state->leave(name, alarm); };
  Place place{leave};
  const auto wake = [&env = state->env, weak = std::weak_ptr{alarm}] {
    env.post([weak] {
      if (const auto waiting = weak.lock()) waiting->ring();
    });
  };
  const std::stop_callback on_stop{stop, wake};
  const Met met = state->is_first(name, alarm) ? Met::nobody : Met::others;
  while (!state->is_first(name, alarm)) {
    if (stop.stop_requested()) co_return Unexpected{Errc::cancelled};
    const Wake woken = co_await alarm->wait_until(give_up_at);
    const bool in_vain = woken == Wake::due && !state->is_first(name, alarm);
    if (in_vain) co_return Unexpected{Errc::timeout};
  }
  if (stop.stop_requested()) co_return Unexpected{Errc::cancelled};
  place.keep();
  co_return Turn{state, std::move(name), met};
}

}  // namespace holdfast::core
