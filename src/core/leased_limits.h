// LeasedLimits: rate limits at an engine that is too slow to be asked for every permit.
//
// How far ahead a key is stands in a page of a book at the engine. A process takes an allowance
// with one compare-and-swap of that page, and spends it by itself (purse.h); a refusal that the
// page as it was last seen justifies is given without asking. So the engine is asked a few times a
// second for each key and process, whatever the rate.
//
// Time is the book's, and goes on from what pages say: whoever's clock is behind follows the one
// that is ahead, and nobody's goes back. A clock that leaps ahead brings a key back to its whole
// burst, once.
//
// Thread safety: as Env. Lifetime: the Env outlives it.

#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/alarm.h"
#include "base/backoff.h"
#include "base/env.h"
#include "core/limit_desk.h"
#include "core/purse.h"

namespace holdfast::core {

/// A page is kept for this long after it is needed: one that comes and goes costs more, and what
/// was seen of it stands for half of this.
inline constexpr Duration kPageMemory = std::chrono::minutes{10};

/// What is known of a key at the engine.
struct LimitPage {
  enum class Known : std::uint8_t { no, absent, present };
  Known known{Known::no};
  AheadMark mark{};
  /// The engine's own, by which it is told from any other.
  std::int64_t version{0};
};

/// Where the pages are. Thread safety: as Env. Failures as LimitDesk has them.
class LimitBook {
 public:
  virtual ~LimitBook() = default;

  /// By a clock that all who write pages share, as far as there is one.
  virtual Task<Result<Duration>> time(TimePoint answer_by) = 0;

  struct Swapped {
    bool made{false};
    /// What is there now.
    LimitPage page{};
  };
  /// Writes the mark if the page is still the one that was `seen`; a page that is not known is
  /// taken to be absent. It may go once `keep` has passed. `key` and `seen` outlive the await.
  virtual Task<Result<Swapped>> swap(const std::string& key,
                                     const LimitPage& seen,
                                     AheadMark mark,
                                     Duration keep,
                                     TimePoint answer_by) = 0;
};

class LeasedLimits final : public LimitDesk {
 public:
  LeasedLimits(Env& env, std::shared_ptr<LimitBook> book) : env_{env}, book_{std::move(book)} {}

  /// A decision's `remaining` is what this process knows of.
  Task<Result<RateDecision>> reserve(std::string key, Take take, TimePoint answer_by) override;

 private:
  struct Account {
    Purse purse;
    LimitPage page;
    /// When the page's mark was true, or later.
    TimePoint seen_at{};
    bool is_asking{false};
    /// Who waits for what is asked for, and for how much.
    std::list<std::shared_ptr<Alarm>> waiting;
    Duration wanted{0};
  };
  class Asking;

  std::shared_ptr<Account> account_of(const std::string& key);
  Task<void> wait_for_others(std::shared_ptr<Account> account, Take take, TimePoint answer_by);
  /// Empty: the purse has what is needed.
  Task<Result<std::optional<RateDecision>>> refill(std::shared_ptr<Account> account,
                                                   std::string key,
                                                   Take take,
                                                   TimePoint answer_by);

  Env& env_;
  std::shared_ptr<LimitBook> book_;
  std::unordered_map<std::string, std::shared_ptr<Account>> accounts_;
  std::size_t look_through_at_{1024};
};

}  // namespace holdfast::core
