// An Observer that remembers.

#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/observer.h"

namespace holdfast::observe {

class Recorder final : public Observer {
 public:
  struct Seen {
    EventKind kind;
    std::string name;
    bool contended;
    LossReason reason;
    ReleaseOutcome outcome;
    Token token;
    Duration waited;
    std::optional<Duration> held;
    std::optional<Duration> hand_over;
    std::optional<Errc> error;
    std::string json;
  };

  void observe(const Event& event) noexcept override {
    const std::lock_guard lock{mutex_};
    seen_.push_back({.kind = event.kind,
                     .name = std::string{event.name},
                     .contended = event.contended,
                     .reason = event.reason,
                     .outcome = event.outcome,
                     .token = event.token,
                     .waited = event.waited,
                     .held = event.held,
                     .hand_over = event.hand_over,
                     .error = event.error ? std::optional{event.error->code} : std::nullopt,
                     .json = to_json(event)});
  }

  std::vector<Seen> seen() const {
    const std::lock_guard lock{mutex_};
    return seen_;
  }

  std::vector<EventKind> kinds() const {
    std::vector<EventKind> kinds;
    for (const Seen& one : seen()) kinds.push_back(one.kind);
    return kinds;
  }

  std::optional<Seen> last(EventKind kind) const {
    const auto all = seen();
    const auto found = std::find_if(
        all.rbegin(), all.rend(), [kind](const Seen& one) { return one.kind == kind; });
    return found == all.rend() ? std::nullopt : std::optional{*found};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
};

}  // namespace holdfast::observe
