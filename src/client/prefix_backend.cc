#include "client/prefix_backend.h"

#include <utility>

#include "base/percent.h"
#include "core/limiter_backend.h"
#include "core/limits.h"
#include "core/store_backend.h"
#include "holdfast/sequencer.h"

namespace holdfast {
namespace {

/// A lease known by its name without the prefix.
class PrefixedLease final : public LeaseCore {
 public:
  PrefixedLease(std::shared_ptr<LeaseCore> inner, std::string_view name, std::string_view domain)
      : inner_{std::move(inner)}, name_{name}, domain_{domain} {
    arrived(inner_->arrival());
  }

  const std::string& name() const override { return name_; }
  Mode mode() const override { return inner_->mode(); }
  Token token() const override { return inner_->token(); }
  Owner owner() const override { return inner_->owner(); }
  Millis ttl() const override { return inner_->ttl(); }
  LeaseState state() const override { return inner_->state(); }
  LossReason loss_reason() const override { return inner_->loss_reason(); }
  TimePoint valid_until() const override { return inner_->valid_until(); }
  std::stop_token stop_token() const override { return inner_->stop_token(); }
  void on_event(std::function<void(const LeaseEvent&)> callback) override {
    inner_->on_event(std::move(callback));
  }
  Result<void> renew() override { return inner_->renew(); }
  ReleaseOutcome release() override { return inner_->release(); }
  void async_release(ReleaseCallback callback) override {
    inner_->async_release(std::move(callback));
  }
  Result<void> detach() override { return inner_->detach(); }
  std::string sequencer() const override {
    return to_string(Sequencer{.domain = domain_,
                               .name = name_,
                               .mode = mode(),
                               .token = token(),
                               .owner_fp = owner().fingerprint()});
  }
  void drop() noexcept override { inner_->drop(); }
  void witnessed_by(LeaseWitness& witness, Ending ending, std::size_t shown) override {
    // Renewals in the background are told by the engine's own lease.
    inner_->witnessed_by(witness, ending, shown);
    LeaseCore::witnessed_by(witness, ending, shown);
  }

 private:
  std::shared_ptr<LeaseCore> inner_;
  std::string name_;
  std::string domain_;
};

class PrefixStore final : public StoreBackend {
 public:
  PrefixStore(std::shared_ptr<StoreBackend> inner, std::string prefix)
      : inner_{std::move(inner)}, prefix_{std::move(prefix)} {}

  StoreResult perform(const StoreRequest& request) override {
    StoreRequest full = request;
    full.key.insert(0, prefix_);
    if (auto good = core::check_key(full.key); !good) return Unexpected{StoreError{good.error()}};
    return inner_->perform(full);
  }

  void async_perform(StoreRequest request, StoreCallback callback) override {
    request.key.insert(0, prefix_);
    if (auto good = core::check_key(request.key); !good) {
      return callback(Unexpected{StoreError{good.error()}});
    }
    inner_->async_perform(std::move(request), std::move(callback));
  }

 private:
  std::shared_ptr<StoreBackend> inner_;
  std::string prefix_;
};

class PrefixedObservation final : public LockObservation {
 public:
  /// `inner`: of the whole name, or why there is none.
  PrefixedObservation(Result<std::shared_ptr<LockObservation>> inner, std::string_view name)
      : inner_{std::move(inner)}, name_{name} {}

  void next(std::stop_token stop, std::function<void(Result<LockInfo>)> callback) override {
    if (!inner_) return callback(Unexpected{inner_.error()});
    auto shortened = [callback = std::move(callback), name = name_](Result<LockInfo> looked) {
      if (looked) looked->name = name;
      callback(std::move(looked));
    };
    (*inner_)->next(std::move(stop), std::move(shortened));
  }

 private:
  Result<std::shared_ptr<LockObservation>> inner_;
  std::string name_;
};

class PrefixLimiter final : public LimiterBackend {
 public:
  PrefixLimiter(std::shared_ptr<LimiterBackend> inner, std::string prefix)
      : inner_{std::move(inner)}, prefix_{std::move(prefix)} {}

  Result<RateDecision> reserve(std::string_view key, const core::Take& take) override {
    const std::string full = prefix_ + std::string{key};
    if (auto good = core::check_key(full); !good) return Unexpected{good.error()};
    return inner_->reserve(full, take);
  }

  void async_reserve(std::string key, const core::Take& take, ReserveCallback callback) override {
    key.insert(0, prefix_);
    if (auto good = core::check_key(key); !good) return callback(Unexpected{good.error()});
    inner_->async_reserve(std::move(key), take, std::move(callback));
  }

 private:
  std::shared_ptr<LimiterBackend> inner_;
  std::string prefix_;
};

class PrefixBackend final : public Backend {
 public:
  PrefixBackend(std::shared_ptr<Backend> inner, std::string prefix)
      : inner_{std::move(inner)},
        prefix_{std::move(prefix)},
        parameter_{"prefix=" + percent_encode(prefix_)},
        domain_{inner_->domain() + "?" + parameter_} {}

  AcquireResult acquire(std::string_view name,
                        const AcquireOptions& options,
                        std::stop_token stop) override {
    const auto full = full_name(name);
    if (!full) return Unexpected{full.error()};
    return shorten(inner_->acquire(*full, options, std::move(stop)), name, domain_);
  }

  void async_acquire(std::string_view name,
                     const AcquireOptions& options,
                     std::stop_token stop,
                     AcquireCallback callback) override {
    const auto full = full_name(name);
    if (!full) return callback(Unexpected{full.error()});
    auto shortened = [callback = std::move(callback), name = std::string{name}, domain = domain_](
                         AcquireResult result) {
      callback(shorten(std::move(result), name, domain));
    };
    inner_->async_acquire(*full, options, std::move(stop), std::move(shortened));
  }

  Result<Duration> renew(std::string_view name, const Owner& owner, Millis ttl) override {
    const auto full = full_name(name);
    if (!full) return Unexpected{full.error()};
    return inner_->renew(*full, owner, ttl);
  }

  Result<ReleaseOutcome> release(std::string_view name, const Owner& owner) override {
    const auto full = full_name(name);
    if (!full) return Unexpected{full.error()};
    return inner_->release(*full, owner);
  }

  Result<LockInfo> inspect(std::string_view name) override {
    const auto full = full_name(name);
    if (!full) return Unexpected{full.error()};
    auto info = inner_->inspect(*full);
    if (info) info->name = name;
    return info;
  }

  Result<std::vector<LockInfo>> list(std::string_view prefix) override {
    auto locks = inner_->list(prefix_ + std::string{prefix});
    if (!locks) return locks;
    std::erase_if(*locks, [&](const LockInfo& lock) { return lock.name.size() == prefix_.size(); });
    for (LockInfo& lock : *locks) lock.name.erase(0, prefix_.size());
    return locks;
  }

  Result<void> watch(std::string_view prefix,
                     const std::function<void(const LockEvent&)>& callback,
                     std::stop_token stop) override {
    const auto shortened = [&](const LockEvent& event) {
      if (event.name.size() == prefix_.size()) return;
      LockEvent seen = event;
      seen.name.erase(0, prefix_.size());
      callback(seen);
    };
    return inner_->watch(prefix_ + std::string{prefix}, shortened, std::move(stop));
  }

  std::shared_ptr<LockObservation> observe(std::string_view name) override {
    const auto full = full_name(name);
    if (!full) return std::make_shared<PrefixedObservation>(Unexpected{full.error()}, name);
    return std::make_shared<PrefixedObservation>(inner_->observe(*full), name);
  }

  void announce(std::string_view name) override { inner_->announce(prefix_ + std::string{name}); }
  std::optional<Error> why_unheard() const override { return inner_->why_unheard(); }

  Result<BreakReport> break_lock(std::string_view name, std::string_view why) override {
    const auto full = full_name(name);
    if (!full) return Unexpected{full.error()};
    return inner_->break_lock(*full, why);
  }

  Result<std::shared_ptr<StoreBackend>> store() override {
    auto store = inner_->store();
    if (!store) return store;
    return std::shared_ptr<StoreBackend>{std::make_shared<PrefixStore>(std::move(*store), prefix_)};
  }

  Result<std::shared_ptr<LimiterBackend>> limiter() override {
    auto limiter = inner_->limiter();
    if (!limiter) return limiter;
    return std::shared_ptr<LimiterBackend>{
        std::make_shared<PrefixLimiter>(std::move(*limiter), prefix_)};
  }

  Capabilities capabilities() const override { return inner_->capabilities(); }
  std::string engine() const override {
    const std::string url = inner_->engine();
    return url + (url.find('?') == std::string::npos ? '?' : '&') + parameter_;
  }
  std::string domain() const override { return domain_; }
  void keep(std::shared_ptr<void> companion) override { inner_->keep(std::move(companion)); }

 private:
  static AcquireResult shorten(AcquireResult result,
                               std::string_view name,
                               std::string_view domain) {
    if (!result) return result;
    return std::shared_ptr<LeaseCore>{
        std::make_shared<PrefixedLease>(std::move(*result), name, domain)};
  }

  Result<std::string> full_name(std::string_view name) const {
    if (prefix_.size() + name.size() > kNameBytesMax) {
      return Unexpected{Error{Errc::invalid_argument,
                              "the lock name has " + std::to_string(prefix_.size() + name.size()) +
                                  " bytes with its prefix",
                              "use at most 512 bytes together"}};
    }
    return prefix_ + std::string{name};
  }

  std::shared_ptr<Backend> inner_;
  std::string prefix_;
  std::string parameter_;
  std::string domain_;
};

}  // namespace

std::shared_ptr<Backend> with_prefix(std::shared_ptr<Backend> inner, std::string prefix) {
  return std::make_shared<PrefixBackend>(std::move(inner), std::move(prefix));
}

}  // namespace holdfast
