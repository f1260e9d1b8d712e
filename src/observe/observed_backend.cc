#include <utility>

#include "base/assert.h"
#include "core/backend.h"
#include "holdfast/observer.h"
#include "observe/observed_store.h"
#include "observe/witness.h"

namespace holdfast {
namespace {

using observe::Witness;

/// Options that own what they show.
struct KeptOptions {
  explicit KeptOptions(const AcquireOptions& given)
      : label{given.label}, trace_id{given.trace_id}, options{given} {}

  AcquireOptions get() const {
    AcquireOptions own = options;
    own.label = label;
    own.trace_id = trace_id;
    return own;
  }

  std::string label;
  std::string trace_id;
  AcquireOptions options;
};

/// Tells one observer, then another.
class Both final : public Observer {
 public:
  Both(std::shared_ptr<Observer> first, std::shared_ptr<Observer> second)
      : first_{std::move(first)}, second_{std::move(second)} {}

  void observe(const Event& event) noexcept override {
    first_->observe(event);
    second_->observe(event);
  }

 private:
  std::shared_ptr<Observer> first_;
  std::shared_ptr<Observer> second_;
};

class ObservedBackend final : public Backend {
 public:
  ObservedBackend(std::shared_ptr<Backend> inner, std::shared_ptr<Witness> witness)
      : inner_{std::move(inner)}, witness_{std::move(witness)} {}

  const std::shared_ptr<Backend>& inner() const { return inner_; }
  const Witness& witness() const { return *witness_; }

  AcquireResult acquire(std::string_view name,
                        const AcquireOptions& options,
                        std::stop_token stop) override {
    const TimePoint asked_at = witness_->asking();
    AcquireResult result = inner_->acquire(name, options, std::move(stop));
    witness_->answered(result, name, options, asked_at);
    return result;
  }

  void async_acquire(std::string_view name,
                     const AcquireOptions& options,
                     std::stop_token stop,
                     AcquireCallback callback) override {
    auto told = [witness = witness_,
                 name = std::string{name},
                 kept = KeptOptions{options},
                 asked_at = witness_->asking(),
                 callback = std::move(callback)](AcquireResult result) {
      witness->answered(result, name, kept.get(), asked_at);
      callback(std::move(result));
    };
    inner_->async_acquire(name, options, std::move(stop), std::move(told));
  }

  Result<Duration> renew(std::string_view name, const Owner& owner, Millis ttl) override {
    auto answer = inner_->renew(name, owner, ttl);
    Event event{.kind = EventKind::renewed, .name = name};
    if (!answer) event.error = &answer.error();
    witness_->tell(event);
    return answer;
  }

  Result<ReleaseOutcome> release(std::string_view name, const Owner& owner) override {
    auto outcome = inner_->release(name, owner);
    if (outcome) {
      witness_->tell({.kind = EventKind::released, .outcome = *outcome, .name = name});
    }
    return outcome;
  }

  Result<LockInfo> inspect(std::string_view name) override { return inner_->inspect(name); }
  Result<std::vector<LockInfo>> list(std::string_view prefix) override {
    return inner_->list(prefix);
  }
  Result<void> watch(std::string_view prefix,
                     const std::function<void(const LockEvent&)>& callback,
                     std::stop_token stop) override {
    return inner_->watch(prefix, callback, std::move(stop));
  }
  std::shared_ptr<LockObservation> observe(std::string_view name) override {
    return inner_->observe(name);
  }
  void announce(std::string_view name) override { inner_->announce(name); }
  std::optional<Error> why_unheard() const override { return inner_->why_unheard(); }

  Result<BreakReport> break_lock(std::string_view name, std::string_view why) override {
    auto report = inner_->break_lock(name, why);
    if (!report) return report;
    Event event{.kind = EventKind::broken, .name = name};
    if (!report->holders.empty()) event.token = report->holders.front().token;
    witness_->tell(event);
    return report;
  }

  Result<std::shared_ptr<StoreBackend>> store() override {
    auto store = inner_->store();
    if (!store) return store;
    return observe::observed_store(std::move(*store), witness_);
  }
  Result<std::shared_ptr<LimiterBackend>> limiter() override { return inner_->limiter(); }

  Capabilities capabilities() const override { return inner_->capabilities(); }
  std::string engine() const override { return inner_->engine(); }
  std::string domain() const override { return inner_->domain(); }
  void keep(std::shared_ptr<void> companion) override { inner_->keep(std::move(companion)); }

 private:
  std::shared_ptr<Backend> inner_;
  std::shared_ptr<Witness> witness_;
};

}  // namespace

Client observed(const Client& client, std::shared_ptr<Observer> observer) {
  HOLDFAST_ASSERT(observer != nullptr);
  std::shared_ptr<Backend> inner = client.backend();
  if (const auto* before = dynamic_cast<const ObservedBackend*>(inner.get())) {
    observer = std::make_shared<Both>(before->witness().observer(), std::move(observer));
    inner = before->inner();
  }
  std::string engine = inner->engine();
  const auto clock = engine.starts_with("local:") ? Witness::Clock::engine : Witness::Clock::here;
  auto witness = std::make_shared<Witness>(std::move(observer), std::move(engine), clock);
  inner->keep(witness);
  return Client{std::make_shared<ObservedBackend>(std::move(inner), std::move(witness))};
}

}  // namespace holdfast
