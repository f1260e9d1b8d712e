#include "core/leased_limits.h"

#include <algorithm>
#include <utility>

namespace holdfast::core {
namespace {

/// Several processes that want the same page.
constexpr BackoffPolicy kConflict{.first = Millis{2}, .max = Millis{50}};

/// As much of what is asked for as the engine would give, in whole permits.
Duration fitting(const Take& ask, Duration ahead) {
  const Duration room = std::max(ask.tolerance + ask.wait - ahead, Duration::zero());
  return std::min(ask.cost, room / ask.interval * ask.interval);
}

}  // namespace

/// One request asks the engine; whoever comes meanwhile waits for what it gets.
class LeasedLimits::Asking {
 public:
  explicit Asking(Account& account) : account_{account} { account_.is_asking = true; }
  ~Asking() {
    account_.is_asking = false;
    for (const auto& alarm : std::exchange(account_.waiting, {})) alarm->ring();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Account& account_;
};

std::shared_ptr<LeasedLimits::Account> LeasedLimits::account_of(const std::string& key) {
  if (accounts_.size() >= look_through_at_) {
    const TimePoint now = env_.now();
    std::erase_if(accounts_, [now](const auto& entry) {
      return !entry.second->is_asking && entry.second->purse.is_idle(now);
    });
    look_through_at_ = std::max<std::size_t>(1024, 2 * accounts_.size());
  }
  auto& account = accounts_[key];
  if (!account) account = std::make_shared<Account>();
  return account;
}

Task<void> LeasedLimits::wait_for_others(std::shared_ptr<Account> account,
                                         Take take,
                                         TimePoint answer_by) {
  const auto alarm = std::make_shared<Alarm>(env_);
  account->waiting.push_back(alarm);
  account->wanted += take.cost;
  co_await alarm->wait_until(answer_by);
  account->wanted -= take.cost;
}

Task<Result<std::optional<RateDecision>>> LeasedLimits::refill(std::shared_ptr<Account> account,
                                                               std::string key,
                                                               Take take,
                                                               TimePoint answer_by) {
  const Purse::Wanted wanted = account->purse.wanted(take, account->wanted, env_.now());
  for (std::uint32_t conflicts = 0;; ++conflicts) {
    const auto time = co_await book_->time(answer_by);
    if (!time) co_return Unexpected{time.error()};
    const TimePoint now = env_.now();
    // It may have gone and come back under the same version.
    if (now - account->seen_at > kPageMemory / 2) account->page = {};
    const LimitPage seen = account->page;
    const bool is_there = seen.known == LimitPage::Known::present;
    const Duration moment =
        is_there ? std::max(*time, seen.mark.at + (now - account->seen_at)) : *time;
    const Duration ahead = is_there ? ahead_at(seen.mark, moment) : Duration::zero();
    Take ask = wanted.most;
    ask.cost = fitting(wanted.most, ahead);
    if (ask.cost < wanted.least) {
      ask.cost = wanted.least;
      co_return std::optional{decide(ask, ahead)};
    }
    const AheadMark mark{.at = moment, .ahead = ahead + ask.cost};
    const Duration keep = mark.ahead + kPageMemory;
    auto swapped = co_await book_->swap(key, seen, mark, keep, answer_by);
    account->page = swapped ? swapped->page : LimitPage{};
    if (!swapped) co_return Unexpected{std::move(swapped).error()};
    account->seen_at = swapped->made ? now : env_.now();
    if (swapped->made) {
      account->purse.add(ask.cost, now + (ahead + ask.cost - ask.tolerance), now);
      co_return std::optional<RateDecision>{};
    }
    const Duration pause = backoff_delay(kConflict, conflicts, env_.draw());
    if (env_.now() + pause >= answer_by) {
      const Error error{Errc::unavailable, "too many others changed the rate limit's page"};
      co_return Unexpected{error};
    }
    // The first time somebody else was faster is no sign of a crowd.
    if (conflicts > 0) co_await env_.sleep_for(pause);
  }
}

Task<Result<RateDecision>> LeasedLimits::reserve(std::string key, Take take, TimePoint answer_by) {
  const auto account = account_of(key);
  while (true) {
    const auto decision = account->purse.spend(take, env_.now());
    if (decision) co_return *decision;
    if (account->is_asking) {
      if (env_.now() >= answer_by) {
        const Error error{Errc::unavailable, "the engine did not answer in time"};
        co_return Unexpected{error};
      }
      co_await wait_for_others(account, take, answer_by);
      continue;
    }
    const Asking asking{*account};
    auto refilled = co_await refill(account, key, take, answer_by);
    if (!refilled) co_return Unexpected{std::move(refilled).error()};
    if (*refilled) co_return **refilled;
  }
}

}  // namespace holdfast::core
