#include "sim/redis/redis_node.h"

#include <utility>

#include "base/assert.h"

namespace holdfast::sim {

WallTime RedisNode::wall_time() const {
  return kWallEpoch + std::chrono::duration_cast<WallTime>(clock_.at(scheduler_.now()));
}

void RedisNode::step_clock(Duration by) {
  clock_.step(by);
  ++era_;
}

void RedisNode::replace(const RedisKeyspace& data) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(wall_time());
  if (!model_.keyspace().same_as(data, now.count())) ++era_;
  model_.keyspace() = data;
  disk_.sync(model_.keyspace());
}

void RedisNode::stop() {
  up_ = false;
  model_.channels().clear();
}

void RedisNode::start() {
  HOLDFAST_ASSERT(!up_);
  replace(disk_.crash(model_.keyspace()));
  up_ = true;
}

void RedisNode::start(Data data) {
  if (data == Data::lost) replace({});
  up_ = true;
}

void RedisNode::sync() {
  if (up_) disk_.sync(model_.keyspace());
}

void RedisNode::replicate() {
  if (up_) replica_ = model_.keyspace();
}

void RedisNode::promote_replica() {
  model_.channels().clear();
  replace(replica_);
  up_ = true;
}

redis::Reply RedisNode::eval(const redis::ScriptCall& call) {
  HOLDFAST_ASSERT(up_);
  const WallTime now = wall_time();
  redis::Reply reply = model_.eval(call, now);
  if (observer_) observer_({now, call, reply, era_});
  if (recording_) executions_.push_back({now, call, reply, era_});
  return reply;
}

redis::Reply RedisNode::command(const std::vector<std::string>& words) {
  return model_.command(words, wall_time());
}

std::optional<std::string> RedisNode::get(const std::string& key) {
  redis::Reply reply = command({"GET", key});
  if (reply.kind != redis::Reply::Kind::text) return std::nullopt;
  return std::move(reply.text);
}

}  // namespace holdfast::sim
