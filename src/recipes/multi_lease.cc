#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "holdfast/multi_lock.h"

namespace holdfast {
namespace {

/// What both amount to: a loss says more than an answer that did not come.
ReleaseOutcome both(ReleaseOutcome one, ReleaseOutcome other) {
  const auto either = [&](ReleaseOutcome outcome) { return one == outcome || other == outcome; };
  if (either(ReleaseOutcome::already_lost)) return ReleaseOutcome::already_lost;
  return either(ReleaseOutcome::unknown) ? ReleaseOutcome::unknown : ReleaseOutcome::released;
}

/// Collects what becomes of several releases, and tells when the last is known.
class Outcomes {
 public:
  Outcomes(std::size_t expected, std::function<void(ReleaseOutcome)> tell)
      : missing_{expected}, tell_{std::move(tell)} {}

  void add(ReleaseOutcome outcome) {
    {
      const std::lock_guard lock{mutex_};
      sum_ = both(sum_, outcome);
      if (--missing_ > 0) return;
    }
    tell_(sum_);
  }

 private:
  std::mutex mutex_;
  std::size_t missing_;
  ReleaseOutcome sum_{ReleaseOutcome::released};
  std::function<void(ReleaseOutcome)> tell_;
};

Error named(const Lease& lease, Error error) {
  error.message = "\"" + lease.name() + "\": " + error.message;
  return error;
}

}  // namespace

class MultiLease::State {
 public:
  explicit State(std::vector<Lease> leases) : leases_{std::move(leases)} {
    for (const Lease& lease : leases_) {
      on_loss_.push_back(std::make_unique<OnLoss>(lease.stop_token(), Forward{stop_}));
    }
  }

  std::vector<Lease>& leases() { return leases_; }
  std::stop_token stop_token() const { return stop_.get_token(); }
  void let_go() { let_go_.store(true); }
  bool is_let_go() const { return let_go_.load(); }

 private:
  struct Forward {
    std::stop_source to;
    void operator()() { to.request_stop(); }
  };
  using OnLoss = std::stop_callback<Forward>;

  std::vector<Lease> leases_;
  std::stop_source stop_;
  std::vector<std::unique_ptr<OnLoss>> on_loss_;
  std::atomic<bool> let_go_{false};
};

MultiLease::MultiLease(std::vector<Lease> leases)
    : state_{std::make_unique<State>(std::move(leases))} {}

MultiLease::MultiLease(MultiLease&&) noexcept = default;

MultiLease::~MultiLease() {
  if (state_ && !state_->is_let_go()) release();
}

MultiLease& MultiLease::operator=(MultiLease&& other) noexcept {
  if (this == &other) return *this;
  const MultiLease old{std::move(*this)};
  state_ = std::move(other.state_);
  return *this;
}

const std::vector<Lease>& MultiLease::leases() const { return state_->leases(); }

const Lease* MultiLease::find(std::string_view name) const {
  const auto found = std::ranges::find(leases(), name, &Lease::name);
  return found == leases().end() ? nullptr : &*found;
}

std::optional<Token> MultiLease::token(std::string_view name) const {
  const Lease* lease = find(name);
  if (lease == nullptr) return std::nullopt;
  return lease->token();
}

LeaseState MultiLease::state() const {
  std::vector<LeaseState> states;
  for (const Lease& lease : leases()) states.push_back(lease.state());
  const auto some = [&](LeaseState state) { return std::ranges::count(states, state) > 0; };
  if (some(LeaseState::lost)) return LeaseState::lost;
  if (some(LeaseState::released)) return LeaseState::released;
  return some(LeaseState::jeopardy) ? LeaseState::jeopardy : LeaseState::held;
}

LossReason MultiLease::loss_reason() const {
  for (const Lease& lease : leases()) {
    if (lease.state() == LeaseState::lost) return lease.loss_reason();
  }
  return LossReason::none;
}

Duration MultiLease::valid_for() const {
  Duration shortest = Duration::max();
  for (const Lease& lease : leases()) shortest = std::min(shortest, lease.valid_for());
  return shortest;
}

TimePoint MultiLease::valid_until() const {
  TimePoint earliest = TimePoint::max();
  for (const Lease& lease : leases()) earliest = std::min(earliest, lease.valid_until());
  return earliest;
}

Result<void> MultiLease::ensure_held() const {
  for (const Lease& lease : leases()) {
    if (auto held = lease.ensure_held(); !held) {
      return Unexpected{named(lease, std::move(held).error())};
    }
  }
  return {};
}

std::stop_token MultiLease::stop_token() const { return state_->stop_token(); }

Result<void> MultiLease::renew() {
  Result<void> all;
  for (Lease& lease : state_->leases()) {
    auto renewed = lease.renew();
    if (renewed) continue;
    const bool graver = all || renewed.error().code == Errc::lost;
    if (graver) all = Unexpected{named(lease, std::move(renewed).error())};
  }
  return all;
}

ReleaseOutcome MultiLease::release() {
  // All are under way before the first is waited for.
  for (Lease& lease : state_->leases()) lease.async_release([](ReleaseOutcome) {});
  ReleaseOutcome outcome = ReleaseOutcome::released;
  for (Lease& lease : state_->leases()) outcome = both(outcome, lease.release());
  return outcome;
}

void MultiLease::async_release(std::function<void(ReleaseOutcome)> callback) {
  const auto outcomes = std::make_shared<Outcomes>(leases().size(), std::move(callback));
  for (Lease& lease : state_->leases()) {
    lease.async_release([outcomes](ReleaseOutcome outcome) { outcomes->add(outcome); });
  }
}

Result<void> MultiLease::detach() {
  for (Lease& lease : state_->leases()) {
    if (auto detached = lease.detach(); !detached) return detached;
  }
  state_->let_go();
  return {};
}

}  // namespace holdfast
