// Locks as the standard library likes them: for std::unique_lock, std::shared_lock,
// std::scoped_lock and std::lock.
//
//     holdfast::mutex accounts{client, "accounts"};
//     std::scoped_lock guard{accounts};
//     write_accounts(accounts.token());
//
// Unlike a std::mutex, a holder can lose the lock: check lease().ensure_held() before each step,
// stop on lease().stop_token(), and send the token along with every write.
//
// Thread safety: any thread may call any member. A thread holds the lock for itself: unlock(),
// lease() and token() mean what the calling thread holds.
// Lifetime: as a std::mutex, destroy it only when no thread is inside a member. What is still held
// is released then.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "holdfast/client.h"
#include "holdfast/lease.h"
#include "holdfast/options.h"

namespace holdfast {

/// How the adapters acquire. The view is copied at once.
struct MutexOptions {
  Millis ttl{30'000};
  Millis lock_delay{0};
  std::string_view label{};
};

namespace detail {

/// The leases of one adapter, by thread. Not for use by programs.
class ThreadLeases;

/// Rounded up, so that nobody waits less than asked; kForever when it is out of range.
template <class Rep, class Period>
Millis to_wait(const std::chrono::duration<Rep, Period>& timeout) {
  using Wide = std::chrono::duration<long double, std::milli>;
  if (timeout <= timeout.zero()) return Millis{0};
  if (Wide{timeout} >= Wide{kTtlMax} * 36'500) return kForever;
  return std::chrono::ceil<Millis>(timeout);
}

}  // namespace detail

/// An exclusive lock that is *TimedLockable*.
class mutex {
 public:
  mutex(Client client, std::string name, const MutexOptions& options = {});
  ~mutex();
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Waits until the lock is held. Throws std::system_error: resource_deadlock_would_occur when the
  /// calling thread holds it through this object already, otherwise the Errc of Client::acquire.
  void lock();

  /// False when somebody else, or this thread, holds the lock. Throws as lock() for other reasons.
  bool try_lock();

  /// False when the time is over. Throws as lock() for other reasons.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lock_within(detail::to_wait(timeout));
  }
  template <class Clock, class Dur>
  bool try_lock_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return lock_within(detail::to_wait(deadline - Clock::now()));
  }

  /// Gives up what the calling thread holds, lost or not; nothing when it holds nothing.
  void unlock() noexcept;

  /// What the calling thread holds, valid until it unlocks. Throws std::system_error
  /// (operation_not_permitted) when it holds nothing.
  const Lease& lease() const;

  /// lease().token().
  Token token() const { return lease().token(); }

 private:
  bool lock_within(Millis wait);

  std::unique_ptr<detail::ThreadLeases> leases_;
};

/// A reader-writer lock that is *SharedTimedLockable*. A waiting writer stops new readers.
class shared_mutex {
 public:
  shared_mutex(Client client, std::string name, const MutexOptions& options = {});
  ~shared_mutex();
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// As those of mutex. A thread that holds the lock in either mode must unlock it before it locks
  /// it again in either: resource_deadlock_would_occur otherwise.
  void lock();
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lock_within(Mode::exclusive, detail::to_wait(timeout));
  }
  template <class Clock, class Dur>
  bool try_lock_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return lock_within(Mode::exclusive, detail::to_wait(deadline - Clock::now()));
  }
  void unlock() noexcept;

  void lock_shared();
  bool try_lock_shared();
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lock_within(Mode::shared, detail::to_wait(timeout));
  }
  template <class Clock, class Dur>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return lock_within(Mode::shared, detail::to_wait(deadline - Clock::now()));
  }
  void unlock_shared() noexcept;

  const Lease& lease() const;
  Token token() const { return lease().token(); }

 private:
  bool lock_within(Mode mode, Millis wait);

  std::unique_ptr<detail::ThreadLeases> leases_;
};

}  // namespace holdfast
