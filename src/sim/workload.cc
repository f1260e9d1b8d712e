#include "sim/workload.h"

#include <algorithm>
#include <utility>

#include "base/backoff.h"
#include "core/election.h"

namespace holdfast::sim {
namespace {

constexpr PerMille kSeldom{250};

/// Of a leader, after each of its acts.
constexpr PerMille kStepsDown{60};

Outcome outcome_of(const Acquired& acquired) {
  if (acquired) return Outcome::ok;
  const Errc code = acquired.error().code;
  return code == Errc::unknown_outcome || code == Errc::timeout ? Outcome::unknown
                                                                : Outcome::refused;
}

}  // namespace

/// One stay in a lock's critical section.
struct Workload::Section {
  std::size_t acquisition{0};
  std::uint64_t sequence{0};
  /// What the last read found.
  std::uint64_t found{0};
};

Workload::Workload(World& world, const Manner& manner, History& history)
    : world_{world}, manner_{manner}, history_{history}, busy_(world.clients(), 0) {
  // What a usual seed comes to.
  history_.acquisitions.reserve(256);
  history_.operations.reserve(256);
  history_.node_steps.reserve(512);
  leases_.reserve(256);
}

bool Workload::idle() const {
  return std::ranges::all_of(busy_, [](int tasks) { return tasks == 0; });
}

void Workload::start(ClientId client) {
  busy_[client.index] = 0;
  if (stopping_) return;
  // Two tasks of one process queue behind each other there.
  const int tasks = world_.chance().happens(kSeldom) ? 2 : 1;
  for (int i = 0; i < tasks; ++i) {
    ++busy_[client.index];
    world_.client(client).env().spawn(work(client, Chance{world_.chance().draw()}));
  }
}

std::size_t Workload::begin_acquisition(ClientId client, std::size_t lock, Duration patience) {
  const SimClient& process = world_.client(client);
  Acquisition acquisition;
  acquisition.client = client.index;
  acquisition.incarnation = process.incarnation();
  acquisition.lock = lock;
  acquisition.called_at = world_.now();
  // Who waited in vain may still have asked a last time.
  const TimePoint answer_by = process.env().now() + patience + manner_.pace.patience;
  acquisition.answer_by = process.env().true_time(answer_by);
  history_.acquisitions.push_back(acquisition);
  leases_.emplace_back();
  return history_.acquisitions.size() - 1;
}

void Workload::end_acquisition(std::size_t index, const Acquired& acquired) {
  Acquisition& acquisition = history_.acquisitions[index];
  acquisition.returned_at = world_.now();
  acquisition.outcome = outcome_of(acquired);
  if (!acquired) return;
  acquisition.token = acquired->token();
  acquisition.owner = acquired->owner();
  leases_[index] = *acquired;
}

Task<void> Workload::give_up(ClientId client, std::size_t index) {
  const SimEnv& env = world_.client(client).env();
  history_.acquisitions[index].release_called_at = world_.now();
  history_.acquisitions[index].release_by = env.true_time(env.now() + manner_.ttl);
  const LeaseView lease = *leases_[index];
  co_await world_.client(client).release(lease, manner_.ttl);
  history_.acquisitions[index].release_returned_at = world_.now();
}

Task<void> Workload::work(ClientId client, Chance chance) {
  SimClient& process = world_.client(client);
  std::uint32_t refusals = 0;
  std::size_t lock = 0;
  while (!stopping_) {
    const BackoffPolicy policy{.first = manner_.ttl / 5, .max = manner_.ttl / 2};
    const Duration pause = refusals > 0 ? backoff_delay(policy, refusals, chance.draw())
                                        : chance.between(Duration{0}, manner_.ttl / 5);
    co_await process.env().sleep_for(pause);
    if (stopping_) break;
    const bool elects = manner_.work == Work::election;
    if (refusals == 0 && !elects) lock = chance.below(kLocks.size());
    const Duration longest = elects ? manner_.ttl * 3 : manner_.ttl;
    const Duration patience = chance.between(manner_.ttl / 10, longest);
    const std::size_t acquisition = begin_acquisition(client, lock, patience);
    const LockName name{std::string{kLocks.at(lock)}};
    const Acquired acquired = co_await process.acquire(name, manner_.ttl, patience);
    end_acquisition(acquisition, acquired);
    refusals = acquired ? 0 : refusals + 1;
    if (!acquired) continue;
    Task<void> task =
        elects ? lead(client, acquisition, chance) : hold(client, acquisition, chance);
    co_await std::move(task);
    co_await give_up(client, acquisition);
  }
  --busy_[client.index];
}

bool Workload::may_go_on(std::size_t index) const {
  if (manner_.habits == Habits::trusting) return true;
  const LeaseState state = leases_[index]->state();
  return state == LeaseState::held || state == LeaseState::jeopardy;
}

Task<Result<RegisterAnswer>> Workload::operate(ClientId client, Section& section, Verb verb) {
  SimClient& process = world_.client(client);
  const Acquisition& acquisition = history_.acquisitions[section.acquisition];
  const bool told = manner_.resource == Register::fenced &&
                    !(verb == Verb::read && manner_.habits == Habits::reads_unguarded);
  RegisterRequest request{.lock = acquisition.lock,
                          .operation = history_.operations.size(),
                          .verb = verb,
                          .token = told ? acquisition.token : Token{0},
                          .holder = section.acquisition};
  Operation operation{.acquisition = section.acquisition, .verb = verb, .checked_at = world_.now()};
  if (manner_.habits == Habits::reads_unguarded) request.opened = core::Opened::not_yet;
  if (verb == Verb::write) {
    request.sequence = ++section.sequence;
    operation.value = request.value = ++last_value_;
    operation.based_on = request.based_on = section.found;
  }
  history_.operations.push_back(operation);
  // The lease was good a moment ago; nobody can say for how long this moment lasts.
  if (process.env().strikes(SimEnv::Moment::worst)) co_await SimEnv::pausing();
  history_.operations[request.operation].sent_at = world_.now();
  const auto answer = co_await process.operate(request, manner_.ttl / 4);
  Operation& done = history_.operations[request.operation];
  done.returned_at = world_.now();
  done.outcome = !answer                                ? Outcome::unknown
                 : answer->verdict == Verdict::accepted ? Outcome::ok
                                                        : Outcome::refused;
  if (answer && verb != Verb::write) done.value = answer->value;
  co_return answer;
}

Task<void> Workload::hold(ClientId client, std::size_t index, Chance& chance) {
  SimEnv& env = world_.client(client).env();
  Section section{.acquisition = index};
  const bool opens = manner_.resource == Register::fenced;
  if (opens && manner_.habits != Habits::reads_unguarded) {
    if (!may_go_on(index)) co_return;
    const auto opened = co_await operate(client, section, Verb::open);
    if (!opened || opened->verdict == Verdict::refused) co_return;
  }
  const std::uint64_t updates = 1 + chance.below(6);
  for (std::uint64_t i = 0; i < updates; ++i) {
    if (!may_go_on(index)) co_return;
    const auto read = co_await operate(client, section, Verb::read);
    if (!read || read->verdict == Verdict::refused) co_return;
    section.found = read->value;
    const Duration longest = chance.happens(kSeldom) ? manner_.ttl * 3 / 2 : manner_.ttl / 8;
    co_await env.sleep_for(chance.between(Duration{0}, longest));
    if (!may_go_on(index)) co_return;
    const auto written = co_await operate(client, section, Verb::write);
    if (!written || written->verdict == Verdict::refused) co_return;
  }
}

/// A leader's work: acts at the resource, and never after work_ends_at() unless it was paused.
Task<void> Workload::lead(ClientId client, std::size_t index, Chance& chance) {
  SimEnv& env = world_.client(client).env();
  const auto may_act = [&] {
    const TimePoint end =
        core::work_ends_at(leases_[index]->valid_until_there(), manner_.ttl, kLeadersGrace);
    return may_go_on(index) && (manner_.habits == Habits::trusting || env.now() < end);
  };
  Section section{.acquisition = index};
  if (manner_.resource == Register::fenced) {
    if (!may_act()) co_return;
    const auto opened = co_await operate(client, section, Verb::open);
    if (!opened || opened->verdict == Verdict::refused) co_return;
  }
  while (!stopping_ && !chance.happens(kStepsDown)) {
    if (!may_act()) co_return;
    const auto read = co_await operate(client, section, Verb::read);
    if (!read || read->verdict == Verdict::refused) co_return;
    section.found = read->value;
    if (!may_act()) co_return;
    const auto written = co_await operate(client, section, Verb::write);
    if (!written || written->verdict == Verdict::refused) co_return;
    co_await env.sleep_for(chance.between(Duration{0}, manner_.ttl / 4));
  }
}

void Workload::demand_progress() {
  for (std::size_t i = 0; i < world_.clients(); ++i) {
    ++busy_[i];
    world_.client({i}).env().spawn(ask_for_all({i}));
  }
}

Task<void> Workload::ask_for_all(ClientId client) {
  SimClient& process = world_.client(client);
  const Duration patience = manner_.ttl * 30;
  for (std::size_t lock = 0; lock < kLocks.size(); ++lock) {
    const std::size_t acquisition = begin_acquisition(client, lock, patience);
    const LockName name{std::string{kLocks.at(lock)}};
    const Acquired acquired = co_await process.acquire(name, manner_.ttl, patience);
    end_acquisition(acquisition, acquired);
    if (acquired) co_await give_up(client, acquisition);
  }
  --busy_[client.index];
}

void Workload::close(const std::function<TimePoint(std::size_t, std::uint32_t)>& crashed_at) {
  for (std::size_t i = 0; i < leases_.size(); ++i) {
    if (!leases_[i]) continue;
    Acquisition& acquisition = history_.acquisitions[i];
    acquisition.deadline = leases_[i]->valid_until();
    const TimePoint crashed = crashed_at(acquisition.client, acquisition.incarnation);
    const auto& heard = leases_[i]->heard();
    if (!heard.empty() && heard.back().event.state == LeaseState::lost) {
      acquisition.loss = heard.back().event.reason;
      acquisition.loss_heard_at = heard.back().when;
    }
    const TimePoint over = std::min(acquisition.release_called_at, acquisition.loss_heard_at);
    if (crashed < over) acquisition.crashed_at = crashed;
  }
}

}  // namespace holdfast::sim
