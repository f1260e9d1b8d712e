#include "lab/race.h"

#include <thread>

#include "lab/number.h"
#include "lab/report.h"

namespace holdfast::lab {
namespace {

// Whether the counter was incremented; false: refused, to be tried again.
using Increment = Result<bool, StoreError>;

Result<void, StoreError> take_naively(Store& store, const std::string& lock) {
  for (;;) {
    const auto there = store.get(lock);
    if (!there) return Unexpected{there.error()};
    if (!*there) break;
    std::this_thread::yield();
  }
  // Others may have looked as well, and seen the same nothing.
  const auto put = store.put(lock, "taken");
  if (!put) return Unexpected{put.error()};
  return {};
}

Increment increment_naively(RaceTrack track) {
  const std::string lock = track.subject + ".lock";
  if (const auto taken = take_naively(track.store, lock); !taken) return Unexpected{taken.error()};
  const auto entry = track.store.get(track.subject);
  if (!entry) return Unexpected{entry.error()};
  const auto put = track.store.put(track.subject, std::to_string(to_number(*entry) + 1));
  if (!put) return Unexpected{put.error()};
  const auto erased = track.store.erase(lock);
  if (!erased) return Unexpected{erased.error()};
  return true;
}

Increment settle(const StoreError& error) {
  if (error.code == Errc::stale_token) return false;
  return Unexpected{error};
}

Increment increment_fenced(RaceTrack track) {
  const auto lease = track.client.acquire(track.subject, {.ttl = std::chrono::seconds{10}});
  if (!lease) return Unexpected{StoreError{lease.error()}};
  auto counter = track.store.open(track.subject, *lease);
  if (!counter) return settle(counter.error());
  const auto entry = counter->read();
  if (!entry) return settle(entry.error());
  const auto written = counter->write(std::to_string(to_number(*entry) + 1));
  if (!written) return settle(written.error());
  return true;
}

}  // namespace

Report race(RaceTrack track, Guard guard, std::int64_t rounds) {
  Report report;
  while (report.value < rounds) {
    const Increment step =
        guard == Guard::holdfast ? increment_fenced(track) : increment_naively(track);
    if (!step) return failed(step.error());
    if (*step) ++report.value;
  }
  return report;
}

}  // namespace holdfast::lab
