#include <utility>

#include "core/backend.h"
#include "core/once.h"
#include "holdfast/store.h"

namespace holdfast {
namespace {

using Found = Result<std::optional<OnceResult>, StoreError>;
using Outcome = Result<OnceReport, StoreError>;

std::optional<Outcome> or_again(std::optional<StoreError> refusal) {
  if (!refusal) return std::nullopt;
  return Outcome{Unexpected{std::move(*refusal)}};
}

/// One attempt of the holder of the key's lock. Nothing: another may help.
std::optional<Outcome> attempt(StoreBackend& store,
                               std::string_view key,
                               const Store::Runner& run,
                               const OnceOptions& options,
                               const Lease& lease,
                               core::OnceCourse& course) {
  const auto runner = core::once_runner(lease.sequencer());
  if (!runner) return Outcome{Unexpected{runner.error()}};
  auto found = core::find_result(store, key, *runner);
  if (!found) return or_again(course.refused_at_open(std::move(found).error()));
  if (*found) return Outcome{OnceReport{std::move(**found), Ran::before}};

  OnceReport report{.result = run(lease), .ran = Ran::here};
  if (core::keeps(report.result, options) == core::Keep::no) {
    static_cast<void>(store.perform(core::once_forget(key, *runner, options)));
    return Outcome{std::move(report)};
  }
  const auto request = core::once_write(key, *runner, report.result, options);
  if (!request) return Outcome{Unexpected{request.error()}};
  auto kept = core::keep_result(store, *request);
  if (!kept) return or_again(course.refused_at_write(std::move(kept).error()));
  return Outcome{std::move(report)};
}

}  // namespace

Found Store::once_result(std::string_view key) {
  if (auto good = core::check_once(key, {}); !good) return Unexpected{StoreError{good.error()}};
  return core::stored_result(store_->perform(core::once_look(key)));
}

Outcome Store::once(std::string_view key,
                    const Runner& run,
                    const OnceOptions& options,
                    std::stop_token stop) {
  if (auto good = core::check_once(key, options); !good) {
    return Unexpected{StoreError{good.error()}};
  }
  core::OnceCourse course{key, options, BootClock::now()};
  while (true) {
    auto found = once_result(key);
    if (!found) return Unexpected{std::move(found).error()};
    if (*found) return OnceReport{.result = std::move(**found), .ran = Ran::before};
    auto core = locks_->acquire(core::once_lock(key), course.next_attempt(BootClock::now()), stop);
    if (!core) return Unexpected{course.not_the_runner(std::move(core).error())};
    const Lease lease{std::move(*core)};
    if (auto outcome = attempt(*store_, key, run, options, lease, course)) return *outcome;
  }
}

}  // namespace holdfast
