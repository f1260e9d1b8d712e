#include "holdfast/async_store.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "core/backend.h"
#include "core/once.h"
#include "core/update.h"

namespace holdfast {
namespace {

namespace asio = boost::asio;

asio::awaitable<StoreResult> perform(std::shared_ptr<StoreBackend> store, StoreRequest request) {
  auto start = [store, request = std::move(request)](StoreCallback callback) {
    store->async_perform(request, std::move(callback));
  };
  co_return co_await detail::initiate_store<StoreResult>(std::move(start), asio::use_awaitable);
}

asio::awaitable<void> pause(Duration duration) {
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  co_await timer.async_wait(asio::use_awaitable);
}

using Found = Result<std::optional<OnceResult>, StoreError>;
using Outcome = Result<OnceReport, StoreError>;

/// Locks out whoever ran it before, and looks whether that one had finished.
asio::awaitable<Found> find(std::shared_ptr<StoreBackend> store,
                            std::string key,
                            core::Holder runner) {
  StoreRequest open = core::once_open(key, runner);
  auto opened = co_await perform(store, std::move(open));
  if (!opened) co_return Unexpected{std::move(opened).error()};
  StoreRequest read = core::once_read(key, runner);
  auto reply = co_await perform(store, std::move(read));
  co_return core::stored_result(std::move(reply));
}

/// The write carries its sequence: repeating it is safe, and settles what became of it.
asio::awaitable<Result<void, StoreError>> keep(std::shared_ptr<StoreBackend> store,
                                               StoreRequest request) {
  for (int again = 0;; ++again) {
    auto written = co_await perform(store, request);
    if (written) co_return Result<void, StoreError>{};
    const bool unknown = written.error().code == Errc::unknown_outcome;
    if (!unknown || again == 3) co_return Unexpected{std::move(written).error()};
  }
}

std::optional<Outcome> or_again(std::optional<StoreError> refusal) {
  if (!refusal) return std::nullopt;
  return Outcome{Unexpected{std::move(*refusal)}};
}

/// One attempt of the holder of the key's lock. Nothing: another may help.
/// References outlive it.
asio::awaitable<std::optional<Outcome>> attempt(const Store& store,
                                                const std::string& key,
                                                const AsyncRunner& run,
                                                const OnceOptions& options,
                                                const Lease& lease,
                                                core::OnceCourse& course) {
  const auto runner = core::once_runner(lease.sequencer());
  if (!runner) co_return Outcome{Unexpected{runner.error()}};
  auto found = co_await find(store.backend(), key, *runner);
  if (!found) co_return or_again(course.refused_at_open(std::move(found).error()));
  if (*found) co_return Outcome{OnceReport{std::move(**found), Ran::before}};

  OnceResult result = co_await run(lease);
  OnceReport report{.result = std::move(result), .ran = Ran::here};
  if (core::keeps(report.result, options) == core::Keep::no) {
    StoreRequest forget = core::once_forget(key, *runner, options);
    [[maybe_unused]] const auto reply = co_await perform(store.backend(), std::move(forget));
    co_return Outcome{std::move(report)};
  }
  auto request = core::once_write(key, *runner, report.result, options);
  if (!request) co_return Outcome{Unexpected{std::move(request).error()}};
  auto kept = co_await keep(store.backend(), std::move(*request));
  if (!kept) co_return or_again(course.refused_at_write(std::move(kept).error()));
  co_return Outcome{std::move(report)};
}

}  // namespace

asio::awaitable<Result<UpdateReport, StoreError>> async_update(Store store,
                                                               std::string key,
                                                               Store::Compute compute,
                                                               UpdateOptions options) {
  if (auto good = core::check_update(options); !good) {
    co_return Unexpected{StoreError{good.error()}};
  }
  UpdateReport report;
  while (true) {
    const auto entry = co_await async_get(store, key);
    if (!entry) co_return Unexpected{entry.error()};
    const auto value = compute(*entry ? &**entry : nullptr);
    if (!value) co_return report;
    const PutOptions expected{.if_version = *entry ? (*entry)->version : Version::absent()};
    const auto version = co_await async_put(store, key, *value, expected);
    if (version) {
      report.version = *version;
      co_return report;
    }
    if (version.error().code != Errc::version_conflict) co_return Unexpected{version.error()};
    if (++report.conflicts == options.attempts) {
      co_return Unexpected{core::too_many_conflicts(options.attempts)};
    }
    co_await pause(core::update_pause(report.conflicts));
  }
}

asio::awaitable<Outcome> async_once(Store store,
                                    std::string key,
                                    AsyncRunner run,
                                    OnceOptions options) {
  if (auto good = core::check_once(key, options); !good) {
    co_return Unexpected{StoreError{good.error()}};
  }
  core::OnceCourse course{key, options, BootClock::now()};
  const std::string lock = core::once_lock(key);
  while (true) {
    StoreRequest look = core::once_look(key);
    auto reply = co_await perform(store.backend(), std::move(look));
    auto found = core::stored_result(std::move(reply));
    if (!found) co_return Unexpected{std::move(found).error()};
    if (*found) co_return OnceReport{.result = std::move(**found), .ran = Ran::before};
    const AcquireOptions next = course.next_attempt(BootClock::now());
    auto lease = co_await async_acquire(Client{store.locks()}, lock, next);
    if (!lease) co_return Unexpected{course.not_the_runner(std::move(lease).error())};
    auto outcome = co_await attempt(store, key, run, options, *lease, course);
    if (outcome) co_return std::move(*outcome);
  }
}

}  // namespace holdfast
