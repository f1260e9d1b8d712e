// Witness: makes events of what an observed client asks for, and of what becomes of its leases.
//
// Thread safety: any thread. Lifetime: that of the engine (Backend::keep).

#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "holdfast/observer.h"
#include "observe/registry.h"

namespace holdfast::observe {

class Witness final : public LeaseWitness {
 public:
  /// Who looks at the clock when a lock is asked for and granted.
  enum class Clock : std::uint8_t { engine, here };

  Witness(std::shared_ptr<Observer> observer, std::string engine, Clock clock);

  const std::shared_ptr<Observer>& observer() const { return observer_; }

  /// Now, or zero where the engine looks at the clock anyway.
  TimePoint asking() const { return clock_ == Clock::here ? BootClock::now() : TimePoint{}; }

  /// The answer to an acquisition. A lease is watched from here on.
  void answered(const AcquireResult& result,
                std::string_view name,
                const AcquireOptions& options,
                TimePoint asked_at) noexcept;

  /// Anything else. The engine is filled in.
  void tell(Event event) noexcept;

  TimePoint ending(const LeaseCore& lease) noexcept override;
  void ended(LeaseCore& lease,
             std::optional<ReleaseOutcome> outcome,
             TimePoint ending_at) noexcept override;
  void renewed(LeaseCore& lease, const Result<void>& answer) noexcept override;
  void kept(const LeaseCore& lease) noexcept override;
  void changed(LeaseCore& lease, const LeaseEvent& event) noexcept override;

 private:
  /// The last release of some lock in this process.
  struct Release {
    std::atomic<std::size_t> name{0};
    std::atomic<TimePoint> at{TimePoint{}};
  };

  Event about(const LeaseCore& lease, EventKind kind) const;
  void granted(const std::shared_ptr<LeaseCore>& lease, Event& event, TimePoint asked_at) noexcept;
  void time_here(const std::shared_ptr<LeaseCore>& lease, TimePoint asked_at) noexcept;
  void lose(LeaseCore& lease, LossReason reason) noexcept;
  Release& release_of(std::size_t name) noexcept { return releases_[name % releases_.size()]; }
  std::optional<Duration> hand_over(std::string_view name, const Arrival& arrival) noexcept;
  bool in_a_child() const noexcept;

  std::shared_ptr<Observer> observer_;
  /// Where the observer only counts, and the engine looks at the clock.
  Registry* quick_;
  std::string engine_;
  Clock clock_;
  std::uint32_t generation_;
  /// For how many releases more hand-overs are looked for. Zero while nobody waits for anybody.
  std::atomic<std::uint32_t> attention_{0};
  std::array<Release, 64> releases_;
};

}  // namespace holdfast::observe
