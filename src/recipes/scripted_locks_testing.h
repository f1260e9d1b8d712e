// Locks that answer as a test says, and remember what was asked of them.

#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/task.h"
#include "holdfast/client.h"

namespace holdfast::recipes {

class ScriptedLocks {
 public:
  struct Lease {
    std::string name;
  };
  using Taken = Result<Lease, AcquireError>;

  TimePoint now() const { return now_; }

  Task<std::vector<Taken>> take_each(std::vector<std::string> names,
                                     AcquireOptions options,
                                     std::stop_token,
                                     std::vector<Lease>& held) {
    std::string line = options.wait == Millis{0} ? "try" : "wait";
    if (options.mode == Mode::shared) line += " to share";
    for (const std::string& name : names) line += " " + name;
    for (const Lease& lease : held) line += " -" + lease.name;
    story.push_back(line);
    std::vector<Taken> answers;
    for (const std::string& name : names) answers.push_back(answer(name));
    co_return answers;
  }

  Task<void> give_back(std::vector<Lease> leases) {
    std::string line = "give back";
    for (const Lease& lease : leases) line += " " + lease.name;
    if (!leases.empty()) story.push_back(line);
    co_return;
  }

  Task<ReleaseOutcome> release(Lease& lease) {
    story.push_back("release " + lease.name);
    co_return lost_by_release == lease.name ? ReleaseOutcome::already_lost
                                            : ReleaseOutcome::released;
  }

  bool stands(const Lease& lease) const {
    const auto doomed = lost.find(lease.name);
    if (doomed == lost.end() || doomed->second == 0) return true;
    --doomed->second;
    return false;
  }
  Millis ttl(const Lease&) const { return granted_ttl; }

  /// What is answered next, by name; granted where that is kGranted, and when there is nothing
  /// left.
  static constexpr Errc kGranted{};
  std::map<std::string, std::vector<Errc>> refusals;
  /// How often the name is found lost.
  mutable std::map<std::string, int> lost;
  /// Whose release finds that it was lost.
  std::string lost_by_release;
  Millis granted_ttl{1000};
  /// `try` or `wait`, the names asked for, and with a dash those held meanwhile; `give back`, and
  /// `release` for one of them. Shared ones are asked for with `to share`.
  std::vector<std::string> story;

 private:
  Taken answer(const std::string& name) {
    auto& planned = refusals[name];
    if (planned.empty()) return Lease{name};
    const Errc code = planned.front();
    planned.erase(planned.begin());
    if (code == kGranted) return Lease{name};
    return Unexpected{AcquireError{code}};
  }

  TimePoint now_{std::chrono::hours{1}};
};

}  // namespace holdfast::recipes
