#include "holdfast/mutex.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

namespace holdfast {
namespace detail {
namespace {

[[noreturn]] void refuse(std::errc code, const std::string& what) {
  throw std::system_error{std::make_error_code(code), what};
}

}  // namespace

// By thread, because a lock that was lost is soon held by another thread while the first has not
// unlocked yet: each must find its own lease.
class ThreadLeases {
 public:
  ThreadLeases(Client client, std::string name, const MutexOptions& options)
      : client_{std::move(client)},
        name_{std::move(name)},
        label_{options.label},
        options_{options} {}

  void lock(Mode mode) { lock_within(mode, kForever); }

  bool try_lock(Mode mode) { return !held_by_this_thread() && acquire(mode, Millis{0}); }

  bool lock_within(Mode mode, Millis wait) {
    if (held_by_this_thread()) {
      refuse(std::errc::resource_deadlock_would_occur, "this thread holds '" + name_ + "' already");
    }
    return acquire(mode, wait);
  }

  void unlock() noexcept {
    auto mine = take();
    if (!mine.empty()) mine.mapped().release();
  }

  const Lease& lease() const {
    const std::lock_guard guard{guard_};
    const auto mine = leases_.find(std::this_thread::get_id());
    if (mine == leases_.end()) {
      refuse(std::errc::operation_not_permitted, "this thread does not hold '" + name_ + "'");
    }
    return mine->second;
  }

 private:
  using Leases = std::unordered_map<std::thread::id, Lease>;

  bool held_by_this_thread() const {
    const std::lock_guard guard{guard_};
    return leases_.contains(std::this_thread::get_id());
  }

  bool acquire(Mode mode, Millis wait) {
    auto lease = client_.acquire(name_,
                                 {.mode = mode,
                                  .ttl = options_.ttl,
                                  .wait = wait,
                                  .lock_delay = options_.lock_delay,
                                  .label = label_});
    if (lease) {
      const std::lock_guard guard{guard_};
      leases_.emplace(std::this_thread::get_id(), std::move(*lease));
      return true;
    }
    const AcquireError& error = lease.error();
    if (error.code == Errc::busy || error.code == Errc::timeout) return false;
    throw std::system_error{make_error_code(error.code), error.message};
  }

  Leases::node_type take() noexcept {
    const std::lock_guard guard{guard_};
    return leases_.extract(std::this_thread::get_id());
  }

  Client client_;
  const std::string name_;
  const std::string label_;
  const MutexOptions options_;
  mutable std::mutex guard_;
  Leases leases_;
};

}  // namespace detail

using detail::ThreadLeases;

mutex::mutex(Client client, std::string name, const MutexOptions& options)
    : leases_{std::make_unique<ThreadLeases>(std::move(client), std::move(name), options)} {}
mutex::~mutex() = default;
void mutex::lock() { leases_->lock(Mode::exclusive); }
bool mutex::try_lock() { return leases_->try_lock(Mode::exclusive); }
bool mutex::lock_within(Millis wait) { return leases_->lock_within(Mode::exclusive, wait); }
void mutex::unlock() noexcept { leases_->unlock(); }
const Lease& mutex::lease() const { return leases_->lease(); }

shared_mutex::shared_mutex(Client client, std::string name, const MutexOptions& options)
    : leases_{std::make_unique<ThreadLeases>(std::move(client), std::move(name), options)} {}
shared_mutex::~shared_mutex() = default;
void shared_mutex::lock() { leases_->lock(Mode::exclusive); }
bool shared_mutex::try_lock() { return leases_->try_lock(Mode::exclusive); }
bool shared_mutex::lock_within(Mode mode, Millis wait) { return leases_->lock_within(mode, wait); }
void shared_mutex::unlock() noexcept { leases_->unlock(); }
void shared_mutex::lock_shared() { leases_->lock(Mode::shared); }
bool shared_mutex::try_lock_shared() { return leases_->try_lock(Mode::shared); }
void shared_mutex::unlock_shared() noexcept { leases_->unlock(); }
const Lease& shared_mutex::lease() const { return leases_->lease(); }

}  // namespace holdfast
