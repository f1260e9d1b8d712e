#include "engines/zookeeper/store/store_sweep.h"

#include <utility>
#include <vector>

#include "engines/zookeeper/store/store_node.h"

namespace holdfast::zookeeper {
namespace {

/// In one go: the rest waits for the next.
constexpr std::size_t kSweptMax = 64;

std::vector<std::string> due_of(const std::vector<std::string>& names, Millis now) {
  std::vector<std::string> due;
  for (const std::string& name : names) {
    const auto at = read_expiry(name);
    if (at && *at <= now && due.size() < kSweptMax) due.push_back(name);
  }
  return due;
}

/// What to do about an entry and the node it names.
SharedRequest removal(const std::string& entry,
                      const std::string& path,
                      const Answer& there,
                      Millis now) {
  const auto node = there.verdict == Verdict::done ? read_node(there.data) : std::nullopt;
  const bool is_due = node && node->passing.node != Millis{0} && node->passing.node <= now;
  Multi multi;
  if (is_due) multi.steps.emplace_back(Erase{.path = path, .version = there.stat.version});
  // Otherwise it has gone, stays for good, or has a later entry.
  multi.steps.emplace_back(Erase{.path = entry});
  return share(std::move(multi));
}

}  // namespace

Task<void> sweep_store(std::shared_ptr<StoreLine> line,
                       std::string expiring,
                       Millis now,
                       TimePoint answer_by) {
  const SharedRequest list = share(List{.path = expiring});
  const auto listed = co_await line->ask(list, answer_by);
  if (!listed) co_return;
  const std::vector<std::string> due = due_of(listed->children, now);
  for (const std::string& name : due) {
    const std::string entry = expiring + '/' + name;
    const SharedRequest read_entry = share(Read{.path = entry});
    const auto named = co_await line->ask(read_entry, answer_by);
    if (!named) co_return;
    if (named->verdict != Verdict::done) continue;
    const std::string path = named->data;
    const SharedRequest read = share(Read{.path = path});
    const auto there = co_await line->ask(read, answer_by);
    if (!there) co_return;
    const SharedRequest remove = removal(entry, path, *there, now);
    const auto removed = co_await line->ask(remove, answer_by);
    if (!removed) co_return;
  }
}

}  // namespace holdfast::zookeeper
