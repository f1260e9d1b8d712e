#include "client/fake_backend.h"

#include <algorithm>
#include <future>
#include <optional>

#include "base/secret.h"
#include "holdfast/sequencer.h"

namespace holdfast::testing {

FakeLease::FakeLease(FakeBackend& backend,
                     std::string name,
                     const AcquireOptions& options,
                     Token token)
    : backend_{backend},
      name_{std::move(name)},
      label_{options.label},
      trace_id_{options.trace_id},
      mode_{options.mode},
      token_{token},
      owner_{fresh_owner()},
      ttl_{options.ttl},
      valid_until_{BootClock::now() + options.ttl} {}

void FakeLease::on_event(std::function<void(const LeaseEvent&)> callback) {
  callback_ = std::move(callback);
}

ReleaseOutcome FakeLease::release() {
  LeaseState expected = LeaseState::held;
  if (state_.compare_exchange_strong(expected, LeaseState::released)) backend_.remove(*this);
  return state_ == LeaseState::released ? ReleaseOutcome::released : ReleaseOutcome::already_lost;
}

Result<void> FakeLease::detach() {
  detached_ = true;
  return {};
}

std::string FakeLease::sequencer() const {
  return to_string(Sequencer{.domain = backend_.domain(),
                             .name = name_,
                             .mode = mode_,
                             .token = token_,
                             .owner_fp = owner_.fingerprint()});
}

void FakeLease::drop() noexcept {
  if (!detached_) release();
}

void FakeLease::lose(LossReason reason) {
  reason_ = reason;
  state_ = LeaseState::lost;
  backend_.remove(*this);
  stop_.request_stop();
  if (callback_) callback_({.state = LeaseState::lost, .reason = reason});
}

struct FakeBackend::Waiter {
  Waiter(const AcquireOptions& options_in, AcquireCallback callback_in)
      : label{options_in.label},
        trace_id{options_in.trace_id},
        options{options_in},
        callback{std::move(callback_in)} {
    options.label = label;
    options.trace_id = trace_id;
  }

  std::string label;
  std::string trace_id;
  AcquireOptions options;
  AcquireCallback callback;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

AcquireResult FakeBackend::acquire(std::string_view name,
                                   const AcquireOptions& options,
                                   std::stop_token stop) {
  auto promise = std::make_shared<std::promise<AcquireResult>>();
  auto future = promise->get_future();
  std::stop_source give_up;
  const std::stop_callback forward{stop, [give_up]() mutable { give_up.request_stop(); }};
  async_acquire(name, options, give_up.get_token(), [promise](AcquireResult result) {
    promise->set_value(std::move(result));
  });
  if (options.wait == kForever) return future.get();
  if (future.wait_for(options.wait) == std::future_status::ready) return future.get();
  give_up.request_stop();
  auto result = future.get();
  if (!result && !stop.stop_requested()) result.error().code = Errc::timeout;
  return result;
}

void FakeBackend::async_acquire(std::string_view name,
                                const AcquireOptions& options,
                                std::stop_token stop,
                                AcquireCallback callback) {
  ++calls_;
  if (failure_.load() != Errc{}) return callback(Unexpected{Error{failure_}});
  std::unique_lock guard{guard_};
  Lock& lock = locks_[std::string{name}];
  if (admits(lock, options.mode) && lock.waiters.empty()) {
    auto lease = grant(lock, std::string{name}, options);
    guard.unlock();
    return callback(std::shared_ptr<LeaseCore>{std::move(lease)});
  }
  if (options.wait == Millis{0}) {
    AcquireError error{Errc::busy};
    error.holder = describe(std::string{name}, lock).holders.front();
    guard.unlock();
    return callback(Unexpected{std::move(error)});
  }
  auto waiter = std::make_shared<Waiter>(options, std::move(callback));
  lock.waiters.push_back(waiter);
  guard.unlock();
  std::function<void()> withdraw_it =
      [this, key = std::string{name}, weak = std::weak_ptr{waiter}] {
        if (auto alive = weak.lock()) withdraw(key, alive, Errc::cancelled);
      };
  waiter->on_stop.emplace(stop, std::move(withdraw_it));
}

void FakeBackend::withdraw(const std::string& name,
                           const std::shared_ptr<Waiter>& waiter,
                           Errc code) {
  std::unique_lock guard{guard_};
  if (std::erase(locks_[name].waiters, waiter) == 0) return;
  guard.unlock();
  waiter->callback(Unexpected{Error{code}});
}

void FakeBackend::remove(const FakeLease& lease) {
  std::vector<std::pair<AcquireCallback, std::shared_ptr<LeaseCore>>> granted;
  {
    const std::lock_guard guard{guard_};
    Lock& lock = locks_[lease.name()];
    std::erase_if(lock.holders, [&](const auto& holder) { return holder.get() == &lease; });
    while (!lock.waiters.empty() && admits(lock, lock.waiters.front()->options.mode)) {
      const auto waiter = lock.waiters.front();
      lock.waiters.pop_front();
      auto next = grant(lock, lease.name(), waiter->options);
      next->arrived({.met = core::Met::others});
      granted.emplace_back(waiter->callback, std::move(next));
    }
  }
  for (auto& [callback, next] : granted) callback(std::move(next));
}

bool FakeBackend::admits(const Lock& lock, Mode mode) const {
  return std::ranges::all_of(lock.holders, [&](const auto& holder) {
    return holder->mode() == Mode::shared && mode == Mode::shared;
  });
}

std::shared_ptr<FakeLease> FakeBackend::grant(Lock& lock,
                                              std::string name,
                                              const AcquireOptions& options) {
  last_ = std::make_shared<FakeLease>(*this, std::move(name), options, Token{++tokens_});
  lock.holders.push_back(last_);
  return last_;
}

LockInfo FakeBackend::describe(const std::string& name, const Lock& lock) const {
  LockInfo info{};
  info.name = name;
  for (const auto& holder : lock.holders) {
    Contender contender{};
    contender.owner_fp = holder->owner().fingerprint();
    contender.mode = holder->mode();
    contender.token = holder->token();
    info.holders.push_back(std::move(contender));
  }
  info.waiters.resize(lock.waiters.size());
  return info;
}

Result<Duration> FakeBackend::renew(std::string_view, const Owner&, Millis ttl) {
  ++calls_;
  return Duration{ttl};
}

Result<ReleaseOutcome> FakeBackend::release(std::string_view name, const Owner& owner) {
  ++calls_;
  const auto lease = last();
  if (!lease || lease->name() != name || lease->owner() != owner) return ReleaseOutcome::unknown;
  return lease->release();
}

Result<LockInfo> FakeBackend::inspect(std::string_view name) {
  ++calls_;
  const std::lock_guard guard{guard_};
  return describe(std::string{name}, locks_[std::string{name}]);
}

Result<std::vector<LockInfo>> FakeBackend::list(std::string_view prefix) {
  ++calls_;
  const std::lock_guard guard{guard_};
  std::vector<LockInfo> locks;
  for (const auto& [name, lock] : locks_) {
    if (name.starts_with(prefix) && !lock.holders.empty()) locks.push_back(describe(name, lock));
  }
  return locks;
}

Result<void> FakeBackend::watch(std::string_view prefix,
                                const std::function<void(const LockEvent&)>& callback,
                                std::stop_token) {
  const auto locks = list(prefix);
  for (const LockInfo& lock : *locks) {
    callback({.change = LockChange::granted, .name = lock.name, .contender = lock.holders.front()});
  }
  return {};
}

std::shared_ptr<LockObservation> FakeBackend::observe(std::string_view) {
  struct Refused final : LockObservation {
    void next(std::stop_token, std::function<void(Result<LockInfo>)> callback) override {
      callback(Unexpected{Error{Errc::unsupported, "fake: cannot be observed"}});
    }
  };
  return std::make_shared<Refused>();
}

Result<BreakReport> FakeBackend::break_lock(std::string_view name, std::string_view) {
  ++calls_;
  const auto lease = last();
  if (!lease || lease->name() != name) return Unexpected{Error{Errc::not_found}};
  lease->lose(LossReason::broken);
  return BreakReport{.holders = {Contender{}}};
}

std::shared_ptr<FakeLease> FakeBackend::last() const {
  const std::lock_guard guard{guard_};
  return last_;
}

std::size_t FakeBackend::waiting(std::string_view name) const {
  const std::lock_guard guard{guard_};
  const auto found = locks_.find(name);
  return found == locks_.end() ? 0 : found->second.waiters.size();
}

}  // namespace holdfast::testing
