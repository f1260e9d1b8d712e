#include "holdfast/lock_times.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/wall_clock.h"
#include "observe/times_record.h"

namespace holdfast {
namespace {

using observe::TimesRecord;

/// Locks that one recorder gathers at once. More of them wait for the next flush, untimed.
constexpr std::size_t kNamesMax = 1000;

std::string key_of(std::string_view name) { return "holdfast/times/" + std::string{name}; }

Error not_ours(std::string_view name) {
  return {Errc::corrupt,
          "the key \"" + key_of(name) + "\" is not what Holdfast writes there",
          "erase it: times are then gathered anew"};
}

/// Adds the record to what the store has of the lock.
Result<void> add(Store& store, const std::string& name, const TimesRecord& record) {
  bool readable = true;
  const auto merged = [&](const Entry* entry) -> std::optional<std::string> {
    TimesRecord sum = record;
    if (entry == nullptr) return sum.encode();
    const auto before = TimesRecord::decode(entry->value);
    readable = before.has_value();
    if (!readable) return std::nullopt;
    sum.merge(*before);
    return sum.encode();
  };
  auto updated = store.update(key_of(name), merged);
  if (!updated) return Unexpected{Error{std::move(updated).error()}};
  if (!readable) return Unexpected{not_ours(name)};
  return {};
}

}  // namespace

Result<std::optional<LockTimes>> lock_times(Client& client, std::string_view name) {
  auto store = client.store();
  if (!store) return Unexpected{std::move(store).error()};
  const auto entry = store->get(key_of(name));
  if (!entry) return Unexpected{Error{entry.error()}};
  if (!*entry) return std::optional<LockTimes>{};
  const auto record = TimesRecord::decode((*entry)->value);
  if (!record) return Unexpected{not_ours(name)};
  return std::optional{record->summary()};
}

struct TimesRecorder::State {
  std::mutex mutex;
  std::map<std::string, TimesRecord, std::less<>> gathered;

  void put_back(std::map<std::string, TimesRecord, std::less<>> records) {
    const std::lock_guard lock{mutex};
    for (const auto& [name, record] : records) gathered[name].merge(record);
  }
};

TimesRecorder::TimesRecorder() : state_{std::make_unique<State>()} {}
TimesRecorder::~TimesRecorder() = default;

void TimesRecorder::observe(const Event& event) noexcept {
  const bool timed = event.kind == EventKind::acquired || event.held.has_value();
  if (!timed) return;
  const std::lock_guard lock{state_->mutex};
  auto found = state_->gathered.find(event.name);
  if (found == state_->gathered.end()) {
    if (state_->gathered.size() == kNamesMax) return;
    found = state_->gathered.try_emplace(std::string{event.name}).first;
  }
  found->second.add(event, wall_ms());
}

Result<void> TimesRecorder::flush(Client& client) {
  auto store = client.store();
  if (!store) return Unexpected{std::move(store).error()};
  std::map<std::string, TimesRecord, std::less<>> records;
  {
    const std::lock_guard lock{state_->mutex};
    records.swap(state_->gathered);
  }
  while (!records.empty()) {
    const auto next = records.begin();
    if (auto added = add(*store, next->first, next->second); !added) {
      state_->put_back(std::move(records));
      return added;
    }
    records.erase(next);
  }
  return {};
}

}  // namespace holdfast
