// The keys of a lock. All but the counter lie in the lock's own hash slot.
//
// Lock names have no control characters, so that no lock can have one of the other keys.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"

namespace holdfast::redis {

class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_{std::move(prefix)} {}

  const std::string& prefix() const { return prefix_; }

  std::string lock(const LockName& name) const { return prefix_ + name.text(); }
  /// A list of owners, first come first.
  std::string queue(const LockName& name) const { return beside(name, "queue"); }
  /// What is known of each of them: a hash.
  std::string waiters(const LockName& name) const { return beside(name, "waiters"); }
  /// Who holds it together with others: a hash.
  std::string holders(const LockName& name) const { return beside(name, "holders"); }
  /// Whose leases were ended by force.
  std::string broken(const LockName& name) const { return beside(name, "broken"); }

  /// Who ended leases by force, and why: a list, the latest first.
  std::string audit(const LockName& name) const { return beside(name, "audit"); }

  /// The lock that a key belongs to: its own key, or that of its queue. Empty: none.
  std::optional<LockName> lock_of(std::string_view key) const {
    const std::string_view tail{"}\x01queue"};
    if (key.starts_with('{') && key.ends_with(tail)) {
      key = key.substr(1, key.size() - 1 - tail.size());
    }
    if (!key.starts_with(prefix_) || key.size() == prefix_.size()) return std::nullopt;
    const std::string_view name = key.substr(prefix_.size());
    if (name.find('\x01') != std::string_view::npos) return std::nullopt;
    return LockName{std::string{name}};
  }

  /// The highest token given under this prefix.
  std::string counter() const { return prefix_ + "\x01token"; }

  /// Where one process hears that a lock was handed to it. It has no spaces, which part it from
  /// others in what is known of a waiter.
  std::string channel(std::string_view process) const {
    return channel_prefix() + "\x01wake:" + std::string{process};
  }

  /// Where all processes hear whose leases were ended by force.
  std::string breaks() const { return channel_prefix() + '\x01' + "break"; }

 private:
  std::string channel_prefix() const {
    std::string name;
    for (const char c : prefix_) name += c == ' ' ? std::string{"%20"} : std::string{c};
    return name;
  }

  std::string beside(const LockName& name, std::string_view what) const {
    return '{' + lock(name) + "}\x01" + std::string{what};
  }

  std::string prefix_;
};

}  // namespace holdfast::redis
