#include "sim/postgres/postgres_node.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engines/postgres/lease_statements.h"
#include "sim/postgres/lease_answers.h"

namespace holdfast::sim {
namespace {

using namespace postgres;

// How many numbers of a sequence PostgreSQL logs ahead.
constexpr std::uint64_t kLoggedAhead = 32;

bool has_number(const std::vector<Attendance>& numbers, Attendance session) {
  return std::ranges::find(numbers, session) != numbers.end();
}

}  // namespace

WallTime PostgresNode::now() const {
  return kWallEpoch + std::chrono::duration_cast<WallTime>(clock_.at(scheduler_.now()));
}

void PostgresNode::step_clock(Duration by) {
  clock_.step(by);
  ++era_;
}

void PostgresNode::stop() {
  up_ = false;
  data_.last_number = data_.logged_number;
  end_backends();
}

void PostgresNode::end_backends() {
  ++life_;
  const auto ended = std::exchange(backends_, {});
  for (const auto& [id, backend] : ended) backend.client.ended();
}

void PostgresNode::replicate() {
  if (up_) replica_ = data_;
}

void PostgresNode::promote_replica() {
  if (!(replica_.tables == data_.tables)) ++era_;
  const std::uint64_t timeline = data_.timeline + 1;
  data_ = replica_;
  data_.timeline = timeline;
  data_.last_number = data_.logged_number;
  replica_ = data_;
  up_ = true;
  end_backends();
}

BackendId PostgresNode::connect(Client client) {
  HOLDFAST_ASSERT(up_);
  const BackendId id{++last_backend_};
  backends_.emplace(id, Backend{.client = std::move(client)});
  return id;
}

void PostgresNode::terminate(BackendId id) {
  const auto ended = backends_.extract(id);
  HOLDFAST_ASSERT(!ended.empty());
  ended.mapped().client.ended();
}

std::uint64_t PostgresNode::mint() {
  std::uint64_t number = ++data_.last_number;
  if (number > data_.logged_number) data_.logged_number = number + kLoggedAhead;
  // Odd and even numbers change places.
  if (slip_ == Slip::tokens_cached) number = ((number - 1) ^ 1) + 1;
  const std::uint64_t timeline = slip_ == Slip::timeline_forgotten ? 0 : data_.timeline;
  return (timeline << kTimelineShift) + number;
}

// A session that looks for its own number finds nobody in its way.
bool PostgresNode::attended(Attendance session) const {
  return std::ranges::any_of(backends_, [&](const auto& one) {
    const auto& [id, backend] = one;
    return id != asking_ && has_number(backend.attends, session);
  });
}

void PostgresNode::notify(Attendance session, const std::string& payload) {
  for (const auto& [id, backend] : backends_) {
    if (!has_number(backend.hears, session)) continue;
    backend.client.notify("holdfast_" + std::to_string(session), payload);
  }
}

bool PostgresNode::attend(Attendance session) {
  const bool free = !attended(session);
  const auto backend = backends_.find(asking_);
  if (backend == backends_.end()) return free;
  auto& [client, attends, hears] = backend->second;
  if (!has_number(hears, session)) hears.push_back(session);
  if (free && !has_number(attends, session)) attends.push_back(session);
  return free;
}

Answer PostgresNode::run(const Call& call, BackendId by) {
  HOLDFAST_ASSERT(up_);
  asking_ = by;
  if (call.statement->name == kAttendStatement.name) {
    const auto session = number_of(call.args.at(0));
    if (!session) return bad_number(call.args.at(0));
    return Rows{{Value{attend(*session) ? "t" : "f"}}};
  }
  LeaseFunctions functions{data_.tables, *this};
  Answer answer = answer_of(call, functions);
  if (observer_) observer_(data_.tables, now());
  return answer;
}

}  // namespace holdfast::sim
