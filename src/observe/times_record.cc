#include "observe/times_record.h"

#include <algorithm>

#include "observe/varint.h"

namespace holdfast::observe {
namespace {

constexpr std::string_view kMagic = "hft1";

LockTimes::Spread spread(const DurationSketch& sketch) {
  return {.samples = sketch.count(),
          .p50 = sketch.quantile(0.5).value_or(Duration{0}),
          .p99 = sketch.quantile(0.99).value_or(Duration{0})};
}

}  // namespace

void TimesRecord::add(const Event& event, std::int64_t now_ms) {
  if (event.kind == EventKind::acquired) {
    wait.add(event.waited);
    contended += event.contended ? 1 : 0;
  } else if (event.kind == EventKind::released && event.held &&
             event.outcome == ReleaseOutcome::released) {
    // Of a lease that was lost nobody knows how long it held.
    hold.add(*event.held);
  } else {
    return;
  }
  since_ms = since_ms == 0 ? now_ms : std::min(since_ms, now_ms);
  until_ms = std::max(until_ms, now_ms);
}

void TimesRecord::merge(const TimesRecord& other) {
  hold.merge(other.hold);
  wait.merge(other.wait);
  contended += other.contended;
  const bool both = since_ms != 0 && other.since_ms != 0;
  since_ms = both ? std::min(since_ms, other.since_ms) : std::max(since_ms, other.since_ms);
  until_ms = std::max(until_ms, other.until_ms);
}

std::string TimesRecord::encode() const {
  std::string bytes{kMagic};
  put_varint(bytes, contended);
  put_varint(bytes, static_cast<std::uint64_t>(since_ms));
  put_varint(bytes, static_cast<std::uint64_t>(until_ms));
  hold.encode(bytes);
  wait.encode(bytes);
  return bytes;
}

std::optional<TimesRecord> TimesRecord::decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  bytes.remove_prefix(kMagic.size());
  const auto contended = take_varint(bytes);
  const auto since = take_varint(bytes);
  const auto until = take_varint(bytes);
  if (!contended || !since || !until) return std::nullopt;
  auto hold = DurationSketch::decode(bytes);
  auto wait = DurationSketch::decode(bytes);
  if (!hold || !wait || !bytes.empty()) return std::nullopt;
  return TimesRecord{.hold = *hold,
                     .wait = *wait,
                     .contended = *contended,
                     .since_ms = static_cast<std::int64_t>(*since),
                     .until_ms = static_cast<std::int64_t>(*until)};
}

LockTimes TimesRecord::summary() const {
  return {.hold = spread(hold),
          .wait = spread(wait),
          .contended = contended,
          .since_ms = since_ms,
          .until_ms = until_ms};
}

}  // namespace holdfast::observe
