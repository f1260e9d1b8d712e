#include "holdfast/lock_times.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/wall_clock.h"
#include "observe/kept_record.h"
#include "observe/refusal_record.h"
#include "observe/times_record.h"

namespace holdfast {
namespace {

using observe::RefusalRecord;
using observe::TimesRecord;

/// Locks that one recorder gathers at once. More of them wait for the next flush, untimed.
constexpr std::size_t kNamesMax = 1000;

std::string key_of(std::string_view name) { return "holdfast/times/" + std::string{name}; }

}  // namespace

Result<std::optional<LockTimes>> lock_times(Client& client, std::string_view name) {
  auto store = client.store();
  if (!store) return Unexpected{std::move(store).error()};
  const auto record = observe::read_key<TimesRecord>(*store, key_of(name));
  if (!record) return Unexpected{record.error()};
  if (!*record) return std::optional<LockTimes>{};
  return std::optional{(*record)->summary()};
}

struct TimesRecorder::State {
  /// What one recorder has to add.
  struct Gathered {
    std::map<std::string, TimesRecord, std::less<>> times;
    RefusalRecord refusals;

    TimesRecord* times_of(std::string_view name) {
      const auto found = times.find(name);
      if (found != times.end()) return &found->second;
      if (times.size() == kNamesMax) return nullptr;
      return &times.try_emplace(std::string{name}).first->second;
    }

    void merge(const Gathered& other) {
      for (const auto& [name, record] : other.times) times[name].merge(record);
      refusals.merge(other.refusals);
    }

    /// Keeps what could not be added.
    Result<void> add_to(Store& store) {
      while (!times.empty()) {
        const auto next = times.begin();
        auto added = observe::add_to_key(store, key_of(next->first), next->second);
        if (!added) return added;
        times.erase(next);
      }
      if (refusals.total == 0) return {};
      auto added = observe::add_to_key(store, observe::kRefusalsKey, refusals);
      if (added) refusals = {};
      return added;
    }
  };

  std::mutex mutex;
  Gathered gathered;
};

TimesRecorder::TimesRecorder() : state_{std::make_unique<State>()} {}
TimesRecorder::~TimesRecorder() = default;

void TimesRecorder::observe(const Event& event) noexcept {
  const bool stale = event.kind == EventKind::stale;
  const bool timed = event.kind == EventKind::acquired || event.held.has_value();
  if (!stale && !timed) return;
  const std::lock_guard lock{state_->mutex};
  if (stale) return state_->gathered.refusals.add(event.name, wall_ms());
  if (TimesRecord* times = state_->gathered.times_of(event.name)) times->add(event, wall_ms());
}

Result<void> TimesRecorder::flush(Client& client) {
  auto store = client.store();
  if (!store) return Unexpected{std::move(store).error()};
  State::Gathered gathered;
  {
    const std::lock_guard lock{state_->mutex};
    std::swap(gathered, state_->gathered);
  }
  auto added = gathered.add_to(*store);
  if (!added) {
    const std::lock_guard lock{state_->mutex};
    state_->gathered.merge(gathered);
  }
  return added;
}

}  // namespace holdfast
