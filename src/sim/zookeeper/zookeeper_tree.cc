#include "sim/zookeeper/zookeeper_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

using namespace zookeeper;
using What = SessionEvent::Change;

bool is_sequential(Create::Kind kind) {
  return kind == Create::Kind::persistent_sequential || kind == Create::Kind::ephemeral_sequential;
}

bool is_ephemeral(Create::Kind kind) {
  return kind == Create::Kind::ephemeral || kind == Create::Kind::ephemeral_sequential;
}

Answer only(Verdict verdict) { return {.verdict = verdict}; }

std::string name_of(std::string_view path) {
  return std::string{path.substr(path.find_last_of('/') + 1)};
}

bool differs(Version wanted, Version found) { return wanted != kAnyVersion && wanted != found; }

// In the arithmetic of the server, which wraps.
std::int32_t changes_of(std::int32_t creations, std::size_t children) {
  const auto doubled = static_cast<std::uint32_t>(creations) * 2U;
  return static_cast<std::int32_t>(doubled - static_cast<std::uint32_t>(children));
}

std::int32_t next_of(std::int32_t creations) {
  const auto next = static_cast<std::int32_t>(static_cast<std::uint32_t>(creations) + 1U);
  return std::max(next, creations);
}

}  // namespace

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == 0 ? "/" : std::string{path.substr(0, slash)};
}

ZookeeperTree::ZookeeperTree() { nodes_.try_emplace("/"); }

NodeStat ZookeeperTree::Node::shown() const {
  NodeStat told = stat;
  told.children_version = changes_of(creations, children.size());
  told.children = static_cast<std::int32_t>(children.size());
  told.data_size = static_cast<std::int32_t>(data.size());
  return told;
}

Answer ZookeeperTree::run(const Create& create, Step& step) {
  const std::string parent_path = parent_of(create.path);
  const auto parent = nodes_.find(parent_path);
  if (parent == nodes_.end()) return only(Verdict::no_node);
  std::string path = create.path;
  if (is_sequential(create.kind)) path += fmt::format("{:010d}", parent->second.creations);
  if (nodes_.contains(path)) return only(Verdict::node_exists);
  if (parent->second.stat.owner != SessionId{}) return only(Verdict::no_children_allowed);

  parent->second.creations = next_of(parent->second.creations);
  parent->second.stat.children_modified = step.zxid;
  parent->second.children.insert(name_of(path));
  Node node{.data = create.data,
            .stat = {.created = step.zxid,
                     .modified = step.zxid,
                     .children_modified = step.zxid,
                     .modified_at = step.at},
            .container = create.kind == Create::Kind::container};
  if (is_ephemeral(create.kind)) node.stat.owner = step.by;
  const auto& made = nodes_.emplace(path, std::move(node)).first->second;
  step.changes.push_back({path, What::created});
  step.changes.push_back({parent_path, What::children});
  return {.path = path, .stat = made.shown()};
}

void ZookeeperTree::remove(const std::string& path, Step& step) {
  const std::string parent_path = parent_of(path);
  Node& parent = nodes_.at(parent_path);
  parent.children.erase(name_of(path));
  parent.stat.children_modified = step.zxid;
  nodes_.erase(path);
  step.changes.push_back({path, What::erased});
  step.changes.push_back({parent_path, What::children});
}

Answer ZookeeperTree::run(const Erase& erase, Step& step) {
  const auto found = nodes_.find(erase.path);
  if (found == nodes_.end()) return only(Verdict::no_node);
  if (differs(erase.version, found->second.stat.version)) return only(Verdict::bad_version);
  if (!found->second.children.empty()) return only(Verdict::not_empty);
  remove(erase.path, step);
  return {};
}

Answer ZookeeperTree::run(const Write& write, Step& step) {
  const auto found = nodes_.find(write.path);
  if (found == nodes_.end()) return only(Verdict::no_node);
  Node& node = found->second;
  if (differs(write.version, node.stat.version)) return only(Verdict::bad_version);
  node.data = write.data;
  ++node.stat.version;
  node.stat.modified = step.zxid;
  node.stat.modified_at = step.at;
  step.changes.push_back({write.path, What::data});
  return {.stat = node.shown()};
}

Answer ZookeeperTree::run(const Check& check, Step&) {
  const auto found = nodes_.find(check.path);
  if (found == nodes_.end()) return only(Verdict::no_node);
  return only(differs(check.version, found->second.stat.version) ? Verdict::bad_version
                                                                 : Verdict::done);
}

Answer ZookeeperTree::run(const Multi& multi, Step& step) {
  std::map<std::string, Node> before = nodes_;
  Answer whole;
  for (const Multi::Step& one : multi.steps) {
    whole.steps.push_back(std::visit([&](const auto& what) { return run(what, step); }, one));
    // The client library does not tell it.
    if (std::holds_alternative<Create>(one)) whole.steps.back().stat = {};
    whole.verdict = whole.steps.back().verdict;
    if (whole.verdict == Verdict::done) continue;
    for (Answer& taken_back : whole.steps) taken_back = only(Verdict::not_done);
    whole.steps.back().verdict = whole.verdict;
    whole.steps.resize(multi.steps.size(), only(Verdict::not_done));
    nodes_ = std::move(before);
    step.changes.clear();
    break;
  }
  return whole;
}

ZookeeperTree::Outcome ZookeeperTree::apply(const Request& request,
                                            SessionId by,
                                            Zxid zxid,
                                            Millis at) {
  Outcome outcome;
  Step step{.by = by, .zxid = zxid, .at = at, .changes = outcome.changes};
  outcome.answer = std::visit(
      [&](const auto& what) -> Answer {
        if constexpr (requires { run(what, step); }) {
          return run(what, step);
        } else {
          HOLDFAST_ASSERT(false);
          return {};
        }
      },
      request);
  return outcome;
}

std::vector<ZookeeperTree::Change> ZookeeperTree::end_session(SessionId session, Zxid zxid) {
  std::vector<Change> changes;
  std::vector<std::string> its;
  for (const auto& [path, node] : nodes_) {
    if (node.stat.owner == session) its.push_back(path);
  }
  Step step{.by = session, .zxid = zxid, .at = {}, .changes = changes};
  for (const std::string& path : its) remove(path, step);
  return changes;
}

Answer ZookeeperTree::look(const Request& request) const {
  const auto path_of = [](const auto& what) -> std::string {
    if constexpr (requires { what.path; }) return what.path;
    return {};
  };
  const auto found = nodes_.find(std::visit(path_of, request));
  if (found == nodes_.end()) return only(Verdict::no_node);
  const Node& node = found->second;
  Answer answer{.stat = node.shown()};
  if (std::holds_alternative<Read>(request)) answer.data = node.data;
  if (std::holds_alternative<List>(request)) {
    answer.children.assign(node.children.begin(), node.children.end());
  }
  return answer;
}

const NodeStat* ZookeeperTree::find(const std::string& path) const {
  const auto found = nodes_.find(path);
  return found != nodes_.end() ? &found->second.stat : nullptr;
}

std::vector<std::string> ZookeeperTree::idle_containers() const {
  std::vector<std::string> idle;
  for (const auto& [path, node] : nodes_) {
    if (node.container && node.creations > 0 && node.children.empty()) idle.push_back(path);
  }
  return idle;
}

void ZookeeperTree::count_creations(const std::string& path, std::int32_t creations) {
  nodes_.at(path).creations = creations;
}

}  // namespace holdfast::sim
