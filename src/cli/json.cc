#include "cli/json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <string>

#include "cli/text.h"

namespace holdfast::cli {
namespace json = boost::json;
namespace {

json::array contenders_json(const std::vector<Contender>& contenders) {
  json::array array;
  for (const Contender& contender : contenders) array.push_back(contender_json(contender));
  return array;
}

std::int64_t whole_millis(Duration duration) {
  return std::chrono::duration_cast<Millis>(duration).count();
}

}  // namespace

json::object error_json(std::string_view code, const Error& error) {
  json::array nodes;
  for (const NodeError& node : error.nodes) {
    nodes.push_back(json::object{{"node", to_utf8(node.node)}, {"message", to_utf8(node.message)}});
  }
  return {{"error",
           json::object{{"code", code},
                        {"message", to_utf8(error.message)},
                        {"remedy", to_utf8(error.remedy())},
                        {"nodes", std::move(nodes)}}}};
}

json::object contender_json(const Contender& contender) {
  return {{"owner_fp", to_utf8(contender.owner_fp)},
          {"token", contender.token.value()},
          {"host", to_utf8(contender.host)},
          {"pid", contender.pid},
          {"label", to_utf8(contender.label)},
          {"since_ms", contender.since_ms},
          {"ttl_ms", contender.ttl.count()},
          {"foreign", contender.foreign}};
}

json::object summary_json(const LockInfo& lock) {
  json::value token = nullptr;
  for (const Contender& holder : lock.holders) {
    if (token.is_null() || token.as_uint64() < holder.token.value()) token = holder.token.value();
  }
  return {{"name", to_utf8(lock.name)},
          {"mode", to_string(lock.mode)},
          {"holders", lock.holders.size()},
          {"waiters", lock.waiters.size()},
          {"token", std::move(token)}};
}

json::object lock_json(const LockInfo& lock, std::string_view engine) {
  return {{"name", to_utf8(lock.name)},
          {"mode", to_string(lock.mode)},
          {"permits", lock.permits},
          {"holders", contenders_json(lock.holders)},
          {"waiters", contenders_json(lock.waiters)},
          {"delay_ms", lock.delay.count()},
          {"engine", engine}};
}

json::object lease_json(const Lease& lease, std::string_view engine) {
  return {{"name", to_utf8(lease.name())},
          {"mode", to_string(lease.mode())},
          {"token", lease.token().value()},
          {"owner", lease.owner().to_string()},
          {"ttl_ms", lease.ttl().count()},
          {"valid_for_ms", whole_millis(lease.valid_for())},
          {"engine", engine},
          {"sequencer", lease.sequencer()}};
}

json::object leader_json(std::string_view name, const std::optional<Leader>& leader) {
  json::object object{{"name", to_utf8(name)}, {"leader", nullptr}};
  if (!leader) return object;
  object["leader"] = json::object{{"id", to_utf8(leader->id)},
                                  {"value", to_utf8(leader->value)},
                                  {"epoch", leader->epoch.value()},
                                  {"host", to_utf8(leader->host)},
                                  {"pid", leader->pid},
                                  {"since_ms", leader->since_ms}};
  return object;
}

json::object event_json(const LockEvent& event) {
  json::object object{{"event", to_string(event.change)},
                      {"name", to_utf8(event.name)},
                      {"mode", to_string(event.contender.mode)}};
  for (auto& field : contender_json(event.contender)) {
    object.emplace(field.key(), std::move(field.value()));
  }
  return object;
}

}  // namespace holdfast::cli
