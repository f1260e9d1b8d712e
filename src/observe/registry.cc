#include "observe/registry.h"

#include <utility>

namespace holdfast::observe {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Registry::Registry(const MetricsOptions& options) : options_{options}, id_{next_id()} {}

void Registry::count(const Event& event) noexcept {
  if (options_.locks == LockLabels::by_name) return count_by_name(event);
  if (Counts* const counts = own()) return counts->count(event);
  const auto shard = take_shard();
  shard->counts.count(event);
  shard->taken.store(false);
}

Counts* Registry::look_for_own() noexcept {
  thread_local ThreadShards mine;
  if (thread_is_ending) return nullptr;
  Shard* shard = mine.find(id_);
  if (shard == nullptr) {
    auto fresh = take_shard();
    shard = fresh.get();
    mine.add(std::move(fresh));
  }
  last_used = {.registry = id_, .counts = &shard->counts};
  return &shard->counts;
}

std::shared_ptr<Shard> Registry::take_shard() {
  const std::lock_guard lock{mutex_};
  for (const auto& shard : shards_) {
    if (!shard->taken.exchange(true)) return shard;
  }
  return shards_.emplace_back(std::make_shared<Shard>(id_));
}

void Registry::count_by_name(const Event& event) noexcept {
  const std::lock_guard lock{mutex_};
  auto found = names_.find(event.name);
  if (found == names_.end()) {
    const bool room = names_.size() < options_.names_max;
    const std::string name{room ? event.name : std::string_view{"other"}};
    found = names_.try_emplace(name, nullptr).first;
    if (found->second == nullptr) found->second = std::make_unique<Counts>();
  }
  found->second->count(event);
}

std::vector<Series> Registry::series() const {
  const std::lock_guard lock{mutex_};
  std::vector<Series> series;
  if (options_.locks == LockLabels::none) {
    Series& all = series.emplace_back();
    for (const auto& shard : shards_) shard->counts.add_to(all.totals);
  }
  for (const auto& [name, counts] : names_) {
    Series& one = series.emplace_back();
    one.label = label("lock", name);
    counts->add_to(one.totals);
  }
  return series;
}

}  // namespace holdfast::observe
