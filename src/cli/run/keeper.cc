#include "cli/run/keeper.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/wait_notice.h"
#include "core/validity.h"
#include "holdfast/client.h"

namespace holdfast::cli {
namespace {

constexpr Duration kRetryMax = std::chrono::seconds{1};

// The session clock counts from the sending of the request, which only the engine knows.
core::SessionClock clock_of(const MultiLease& lease) {
  const Duration ttl = lease.leases().front().ttl();
  return {lease.valid_until() + core::drift_allowance(ttl) - ttl, ttl};
}

Error not_due(const RunOptions& options, const IntervalError& error) {
  const std::string& name = options.names.front();
  // Who runs it now may have asked for another interval than we.
  return {error.code,
          fmt::format("'{}' was run by {}, and is due in {}",
                      name,
                      describe(*error.holder),
                      format_duration(*error.due_in)),
          fmt::format("wait for it with --wait, or end the interval: holdfast break {}",
                      interval_lock(name))};
}

}  // namespace

Keeper::Keeper(const RunOptions& options, SharedRun& shared)
    : options_{options},
      shared_{shared},
      news_ready_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      stop_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      lost_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  HOLDFAST_ASSERT(news_ready_ && stop_ && lost_);
}

Keeper::~Keeper() {
  cancel();
  stop();
}

void Keeper::start() {
  thread_ = std::thread{[this] { keep(); }};
}

void Keeper::cancel() { waiting_.request_stop(); }

void Keeper::stop() {
  eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
  heeding_.reset();
}

Keeper::News Keeper::take_news() {
  const std::scoped_lock lock{mutex_};
  if (news_.empty()) {
    eventfd_t ignored = 0;
    eventfd_read(news_ready_.get(), &ignored);
    return News::none;
  }
  const News first = news_.front();
  news_.erase(news_.begin());
  return first;
}

void Keeper::tell(News news) {
  const std::scoped_lock lock{mutex_};
  news_.push_back(news);
  eventfd_write(news_ready_.get(), 1);
}

void Keeper::keep() {
  const auto clock = acquire();
  tell(clock ? News::granted : News::refused);
  if (clock) heed();
  if (clock) renew_until_stopped(*clock);
}

// Once the grant is told, so that nothing is before it.
void Keeper::heed() {
  if (!options_.heed) return;
  heeding_ = options_.heed(*client_, [this](const std::string& successor) {
    successor_ = successor;
    tell(News::unwanted);
  });
}

std::optional<core::SessionClock> Keeper::acquire() {
  auto client = Client::connect(options_.engine);
  if (!client) {
    refusal_ = client.error();
    return std::nullopt;
  }
  engine_ = client->engine();
  *client = options_.report.observe(std::move(*client));
  auto refusal = options_.at_most_every > Millis{0} ? take_interval(*client) : take(*client);
  if (refusal) {
    refusal_ = *std::move(refusal);
    return std::nullopt;
  }
  note_grants();
  const core::SessionClock clock = clock_of(lease());
  shared_.publish(clock.deadline(), clock.ttl());
  on_lost_.emplace(lease().stop_token(), [this] { eventfd_write(lost_.get(), 1); });
  client_.emplace(std::move(*client));
  return clock;
}

std::optional<Error> Keeper::take(Client& client) {
  const WaitNotice notice{client, options_.names, options_.format};
  const std::stop_token stop = waiting_.get_token();
  auto taken = options_.take ? options_.take(client, stop)
                             : acquire_all(client, options_.names, options_.acquire, stop);
  if (!taken) return options_.explain(taken.error());
  lease_.emplace(std::move(*taken));
  return std::nullopt;
}

std::optional<Error> Keeper::take_interval(Client& client) {
  std::vector<std::string> awaited{interval_lock(options_.names.front())};
  awaited.insert(awaited.end(), options_.names.begin(), options_.names.end());
  const WaitNotice notice{client, std::move(awaited), options_.format};
  const IntervalOptions options{.ttl = options_.acquire.ttl,
                                .wait = options_.acquire.wait,
                                .kind = options_.acquire.kind,
                                .lock_delay = options_.acquire.lock_delay,
                                .label = options_.acquire.label};
  auto run =
      at_most_every(options_.at_most_every, client, options_.names, options, waiting_.get_token());
  if (!run) {
    return run.error().due_in ? not_due(options_, run.error()) : options_.explain(run.error());
  }
  interval_.emplace(std::move(*run));
  return std::nullopt;
}

void Keeper::note_grants() {
  for (const std::string& name : options_.names) {
    const Lease& granted = *lease().find(name);
    grants_.push_back({.name = name,
                       .token = granted.token(),
                       .owner = granted.owner(),
                       .ttl = granted.ttl(),
                       .sequencer = granted.sequencer()});
  }
}

void Keeper::renew_until_stopped(core::SessionClock clock) {
  for (;;) {
    const Woken woken = sleep_until(clock.renew_at());
    if (woken == Woken::stopped) return;
    if (woken == Woken::renew && renew(clock)) continue;
    loss_ = Error{
        Errc::lost,
        fmt::format(
            "the lease on '{}' is lost: {}", options_.title(), to_string(lease().loss_reason()))};
    tell(News::lost);
    return;
  }
}

bool Keeper::renew(core::SessionClock& clock) {
  const TimePoint sent_at = BootClock::now();
  if (clock.state(sent_at) == LeaseState::lost) return false;
  const auto renewed = lease().renew();
  if (renewed) {
    clock.renewed(sent_at, grants_.front().ttl);
    shared_.publish(clock.deadline(), clock.ttl());
    return true;
  }
  if (renewed.error().code == Errc::lost) return false;
  clock.renewal_failed(BootClock::now() + std::min<Duration>(clock.ttl() / 20, kRetryMax));
  return true;
}

Keeper::Woken Keeper::sleep_until(TimePoint at) {
  timer_.arm(at);
  std::array<pollfd, 3> events{
      pollfd{stop_.get(), POLLIN, 0}, {lost_.get(), POLLIN, 0}, {timer_.fd(), POLLIN, 0}};
  while (poll(events.data(), events.size(), -1) < 0) {
  }
  if (events[0].revents != 0) return Woken::stopped;
  return events[1].revents != 0 ? Woken::lost : Woken::renew;
}

ReleaseOutcome Keeper::release(Interval interval) {
  const ReleaseOutcome outcome = lease().release();
  // What cannot be given back ends by itself.
  if (interval_ && interval == Interval::given_back) (void)interval_->forget();
  if (outcome == ReleaseOutcome::released) options_.report.leave_times(*client_);
  return outcome;
}

void Keeper::abandon() {
  // Only session leases refuse, and these are detached.
  (void)lease().detach();
}

}  // namespace holdfast::cli
