#include "sim/mutants/mutant_engines.h"

#include <utility>

#include "core/validity.h"

namespace holdfast::sim {
namespace {

using Granted = Result<core::Grant, AcquireError>;
using Fates = Result<std::vector<core::Fate>>;

/// Does as the engine within; a mutant overrides what it does wrong.
class Around : public core::LeaseEngine, public std::enable_shared_from_this<Around> {
 public:
  Around(Env& env, Engine within) : env_{env}, within_{std::move(within)} {}

  Task<Granted> acquire(core::LockRequest request, TimePoint until, std::stop_token stop) override {
    return within_->acquire(std::move(request), until, std::move(stop));
  }
  Task<Fates> renew(std::vector<core::HeldLease> leases, Millis ttl, TimePoint by) override {
    return within_->renew(std::move(leases), ttl, by);
  }
  Task<ReleaseOutcome> release(core::HeldLease lease, TimePoint until, TimePoint by) override {
    return within_->release(std::move(lease), until, by);
  }
  core::Confirmation confirmed(const core::HeldLease& lease, TimePoint called) const override {
    return within_->confirmed(lease, called);
  }
  void abandon(LockName name, Owner owner, Millis ttl) override {
    within_->abandon(std::move(name), owner, ttl);
  }
  void tell(std::weak_ptr<core::LeaseNews> news) override { within_->tell(std::move(news)); }

 protected:
  Env& env() { return env_; }
  core::LeaseEngine& within() { return *within_; }

 private:
  Env& env_;
  Engine within_;
};

class CountingFromReply final : public Around {
 public:
  using Around::Around;
  Task<Granted> acquire(core::LockRequest request, TimePoint until, std::stop_token stop) override {
    const auto self = shared_from_this();
    Granted granted = co_await within().acquire(std::move(request), until, std::move(stop));
    if (granted) granted->sent_at = env().now();
    if (granted) granted->counts_from.reset();
    co_return granted;
  }
};

class CountingFromLast final : public Around {
 public:
  using Around::Around;
  Task<Granted> acquire(core::LockRequest request, TimePoint until, std::stop_token stop) override {
    const auto self = shared_from_this();
    Granted granted = co_await within().acquire(std::move(request), until, std::move(stop));
    if (granted) granted->counts_from.reset();
    co_return granted;
  }
  core::Confirmation confirmed(const core::HeldLease&, TimePoint called) const override {
    return called;
  }
  void tell(std::weak_ptr<core::LeaseNews>) override {}
};

class WithoutDriftAllowance final : public Around {
 public:
  using Around::Around;
  Task<Granted> acquire(core::LockRequest request, TimePoint until, std::stop_token stop) override {
    const auto self = shared_from_this();
    const Millis ttl = request.ttl;
    Granted granted = co_await within().acquire(std::move(request), until, std::move(stop));
    if (granted) granted->sent_at += core::drift_allowance(ttl);
    co_return granted;
  }
};

class BelievingInRenewal final : public Around {
 public:
  using Around::Around;
  Task<Fates> renew(std::vector<core::HeldLease> leases, Millis ttl, TimePoint by) override {
    const auto self = shared_from_this();
    const std::size_t count = leases.size();
    Fates fates = co_await within().renew(std::move(leases), ttl, by);
    if (!fates) co_return std::vector<core::Fate>(count, core::Fate::renewed);
    co_return fates;
  }
};

class LingeringInRelease final : public Around {
 public:
  using Around::Around;
  Task<ReleaseOutcome> release(core::HeldLease lease, TimePoint until, TimePoint by) override {
    const auto self = shared_from_this();
    const Duration patience = by - env().now();
    const ReleaseOutcome outcome = co_await within().release(std::move(lease), until, by);
    co_await env().sleep_for(patience * 2);
    co_return outcome;
  }
};

class WithLeasesAsTokens final : public Around {
 public:
  WithLeasesAsTokens(Env& env, Engine engine, std::shared_ptr<std::int64_t> last)
      : Around{env, std::move(engine)}, last_{std::move(last)} {}
  Task<Granted> acquire(core::LockRequest request, TimePoint until, std::stop_token stop) override {
    const auto self = shared_from_this();
    Granted granted = co_await within().acquire(std::move(request), until, std::move(stop));
    if (granted) granted->token = Token{static_cast<std::uint64_t>(*last_) % Token::kMax + 1};
    co_return granted;
  }

 private:
  std::shared_ptr<std::int64_t> last_;
};

class ForgetfulEnv final : public Env {
 public:
  explicit ForgetfulEnv(Env& env) : env_{env} {}

  TimePoint now() const override { return env_.now(); }
  std::uint64_t draw() override { return env_.draw(); }
  Owner fresh_owner() override { return env_.fresh_owner(); }
  void spawn(Task<void> task) override { env_.spawn(std::move(task)); }
  bool runs_here() const override { return env_.runs_here(); }
  void post(std::function<void()> work) override { env_.post(std::move(work)); }
  ParkingId park(TimePoint due, Parked task) override { return env_.park(due, std::move(task)); }
  void wake(ParkingId id) override {
    if (env_.draw() % 16 != 0) env_.wake(id);
  }

 private:
  Env& env_;
};

}  // namespace

Engine counting_from_reply(Env& env, Engine engine) {
  return std::make_shared<CountingFromReply>(env, std::move(engine));
}

Engine counting_from_last(Env& env, Engine engine) {
  return std::make_shared<CountingFromLast>(env, std::move(engine));
}

Engine without_drift_allowance(Env& env, Engine engine) {
  return std::make_shared<WithoutDriftAllowance>(env, std::move(engine));
}

Engine believing_in_renewal(Env& env, Engine engine) {
  return std::make_shared<BelievingInRenewal>(env, std::move(engine));
}

Engine lingering_in_release(Env& env, Engine engine) {
  return std::make_shared<LingeringInRelease>(env, std::move(engine));
}

Engine with_leases_as_tokens(Env& env, Engine engine, std::shared_ptr<std::int64_t> last) {
  return std::make_shared<WithLeasesAsTokens>(env, std::move(engine), std::move(last));
}

Engine plain_engine(std::string_view protocol, Env& env, Ports ports, const Pace& pace) {
  return find_protocol(protocol)->make(env, std::move(ports), pace);
}

Engine forgetting_wakeups(std::string_view protocol, Env& env, Ports ports, const Pace& pace) {
  // The Env it was made with lives as long as the engine.
  struct Kept {
    explicit Kept(Env& within) : env{within} {}
    ForgetfulEnv env;
    Engine engine{};
  };
  auto kept = std::make_shared<Kept>(env);
  kept->engine = plain_engine(protocol, kept->env, std::move(ports), pace);
  return {kept, kept->engine.get()};
}

}  // namespace holdfast::sim
