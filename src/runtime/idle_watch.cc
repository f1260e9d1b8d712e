#include "runtime/idle_watch.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/assert.h"

namespace holdfast::runtime {
namespace {

epoll_event event_of(int descriptor, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  return event;
}

}  // namespace

Result<void> IdleWatch::open() {
  happenings_ = UniqueFd{epoll_create1(EPOLL_CLOEXEC)};
  calls_ = UniqueFd{timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  sleep_ = UniqueFd{epoll_create1(EPOLL_CLOEXEC)};
  if (!happenings_ || !calls_ || !sleep_) {
    return Unexpected{
        Error{Errc::io_error, "no event watch: " + std::generic_category().message(errno)}};
  }
  epoll_event called = event_of(calls_.get(), EPOLLIN);
  epoll_event happened = event_of(happenings_.get(), 0);
  const bool watched = epoll_ctl(sleep_.get(), EPOLL_CTL_ADD, calls_.get(), &called) == 0 &&
                       epoll_ctl(sleep_.get(), EPOLL_CTL_ADD, happenings_.get(), &happened) == 0;
  HOLDFAST_ASSERT(watched);
  return {};
}

// By edges: what a loop leaves unread, because nobody asked for it, must not wake anybody again.
void IdleWatch::add(int descriptor) {
  epoll_event event = event_of(descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  const bool added = epoll_ctl(happenings_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  HOLDFAST_ASSERT(added);
}

void IdleWatch::forget() {
  std::array<epoll_event, 64> events;
  constexpr int kRoom = static_cast<int>(events.size());
  while (epoll_wait(happenings_.get(), events.data(), kRoom, 0) == kRoom) {
  }
}

void IdleWatch::arm() { watch_happenings(EPOLLIN | EPOLLONESHOT); }

void IdleWatch::disarm() { watch_happenings(0); }

void IdleWatch::watch_happenings(std::uint32_t events) {
  epoll_event event = event_of(happenings_.get(), events);
  const bool changed = epoll_ctl(sleep_.get(), EPOLL_CTL_MOD, happenings_.get(), &event) == 0;
  HOLDFAST_ASSERT(changed);
}

void IdleWatch::call_after(Duration delay) {
  // A delay of zero would take the call back instead.
  const Duration positive = std::max(delay, Duration{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(positive);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (positive - seconds).count();
  const bool set = timerfd_settime(calls_.get(), 0, &spec, nullptr) == 0;
  HOLDFAST_ASSERT(set);
}

void IdleWatch::wait() {
  epoll_event event{};
  while (epoll_wait(sleep_.get(), &event, 1, -1) < 0) HOLDFAST_ASSERT(errno == EINTR);
  std::uint64_t calls = 0;
  static_cast<void>(read(calls_.get(), &calls, sizeof calls));
}

}  // namespace holdfast::runtime
