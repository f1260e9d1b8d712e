#include "sim/redis_node.h"

#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

// The wall clock when the world began: some day in 2026.
constexpr WallTime kEpoch{1'770'000'000'000'000};

std::string describe(const redis::Reply& reply) {
  using Kind = redis::Reply::Kind;
  if (reply.kind == Kind::integer) return std::to_string(reply.integer);
  if (reply.kind != Kind::array) return reply.kind == Kind::nil ? "nil" : reply.text;
  std::string text;
  for (const redis::Reply& item : reply.items) {
    if (!text.empty()) text += ' ';
    text += describe(item);
  }
  return text;
}

}  // namespace

WallTime RedisNode::wall_time() const {
  constexpr std::int64_t kMillion = 1'000'000;
  const auto passed = std::chrono::duration_cast<WallTime>(scheduler_.now().time_since_epoch());
  return kEpoch + passed + passed * rate_.ppm / kMillion + step_;
}

void RedisNode::start(Data data) {
  up_ = true;
  if (data == Data::kept) return;
  model_.forget_everything();
  ++data_epoch_;
}

redis::Reply RedisNode::eval(const redis::ScriptCall& call) {
  HOLDFAST_ASSERT(up_);
  const WallTime now = wall_time();
  redis::Reply reply = model_.eval(call, now);
  std::string line = "node ran ";
  line += call.script->name;
  for (const std::string& key : call.keys) line += ' ' + key;
  trace_.note(scheduler_.now(), line + " -> " + describe(reply));
  executions_.push_back({now, call, reply, data_epoch_});
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
