#include "cli/run/keeper.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "cli/wait_notice.h"
#include "core/validity.h"
#include "holdfast/client.h"

namespace holdfast::cli {
namespace {

constexpr Duration kRetryMax = std::chrono::seconds{1};

// The session clock counts from the sending of the request, which only the engine knows.
core::SessionClock clock_of(const Lease& lease) {
  const Duration ttl = lease.ttl();
  return {lease.valid_until() + core::drift_allowance(ttl) - ttl, ttl};
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
  if (clock) renew_until_stopped(*clock);
}

std::optional<core::SessionClock> Keeper::acquire() {
  auto client = Client::connect(options_.engine);
  if (!client) {
    refusal_ = client.error();
    return std::nullopt;
  }
  auto lease = [&] {
    const WaitNotice notice{*client, options_.name, options_.format};
    return client->acquire(options_.name, options_.acquire, waiting_.get_token());
  }();
  if (!lease) {
    refusal_ = options_.explain(lease.error());
    return std::nullopt;
  }
  grant_ = Grant{.name = lease->name(),
                 .token = lease->token(),
                 .owner = lease->owner(),
                 .ttl = lease->ttl(),
                 .engine = client->engine(),
                 .sequencer = lease->sequencer()};
  const core::SessionClock clock = clock_of(*lease);
  shared_.publish(clock.deadline(), clock.ttl());
  lease_.emplace(std::move(*lease));
  on_lost_.emplace(lease_->stop_token(), [this] { eventfd_write(lost_.get(), 1); });
  return clock;
}

void Keeper::renew_until_stopped(core::SessionClock clock) {
  for (;;) {
    const Woken woken = sleep_until(clock.renew_at());
    if (woken == Woken::stopped) return;
    if (woken == Woken::renew && renew(clock)) continue;
    loss_ = Error{
        Errc::lost,
        fmt::format(
            "the lease on '{}' is lost: {}", options_.name, to_string(lease_->loss_reason()))};
    tell(News::lost);
    return;
  }
}

bool Keeper::renew(core::SessionClock& clock) {
  const TimePoint sent_at = BootClock::now();
  if (clock.state(sent_at) == LeaseState::lost) return false;
  const auto renewed = lease_->renew();
  if (renewed) {
    clock.renewed(sent_at, grant_->ttl);
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

ReleaseOutcome Keeper::release() {
  HOLDFAST_ASSERT(lease_.has_value());
  return lease_->release();
}

void Keeper::abandon() {
  HOLDFAST_ASSERT(lease_.has_value());
  // Only session leases refuse, and this one is detached.
  (void)lease_->detach();
}

}  // namespace holdfast::cli
