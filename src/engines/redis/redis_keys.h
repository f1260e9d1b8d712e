// The keys of a lock. On a cluster all of them lie in the lock's own hash slot.
//
// Lock names have no control characters, so that no lock can have one of the other keys.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "engines/redis/hash_slot.h"
#include "holdfast/result.h"

namespace holdfast::redis {

/// Where the keys lie, and who hears what is published.
enum class Spread : std::uint8_t {
  one_server,
  /// By their slots on the servers of a cluster. Every server passes on what is published.
  cluster,
  /// The same, and a message stays with the servers of its channel's slot.
  sharded_cluster,
};

class Keys {
 public:
  explicit Keys(std::string prefix, Spread spread = Spread::one_server)
      : prefix_{std::move(prefix)}, spread_{spread}, channel_prefix_{without_spaces(prefix_)} {}

  const std::string& prefix() const { return prefix_; }

  /// invalid_argument: a name with braces on a cluster, where they would tear its keys apart.
  Result<void> check(std::string_view name) const {
    if (spread_ == Spread::one_server || name.find_first_of("{}") == std::string_view::npos) {
      return {};
    }
    return Unexpected{Error{Errc::invalid_argument,
                            "the lock name has braces, which decide where a Redis cluster keeps a "
                            "key",
                            "use a name without { and }"}};
  }

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

  /// The highest token given under this prefix; on a cluster, in the lock's slot.
  std::string counter(const LockName& name) const {
    return spread_ == Spread::one_server ? prefix_ + "\x01token"
                                         : prefix_ + "\x01token:{" + slot_tag(slot(name)) + '}';
  }

  /// Locks of one slot may share a script.
  std::uint16_t slot(const LockName& name) const {
    return spread_ == Spread::one_server ? 0 : hash_slot(lock(name));
  }

  /// Where one process hears that this lock was handed to it. It has no spaces, which part it from
  /// others in what is known of a waiter; `swake` tells the scripts to publish it in its slot.
  std::string channel(std::string_view process, const LockName& name) const {
    std::string text = channel_prefix_;
    if (spread_ == Spread::sharded_cluster) {
      text += "\x01swake:{" + slot_tag(slot(name)) + "}:";
    } else {
      text += "\x01wake:";
    }
    return text += process;
  }

  /// Whether a channel is heard in its slot alone.
  static bool stays_in_slot(std::string_view channel) {
    return channel.find("\x01swake:") != std::string_view::npos;
  }

  /// Where all processes hear whose leases were ended by force.
  std::string breaks() const { return channel_prefix_ + '\x01' + "break"; }

  /// Where who observes a lock hears that others hold it now.
  std::string changes() const { return channel_prefix_ + '\x01' + "change"; }

 private:
  static std::string without_spaces(std::string_view prefix) {
    std::string name;
    for (const char c : prefix) name += c == ' ' ? std::string{"%20"} : std::string{c};
    return name;
  }

  // On the way of every lock, several times: one allocation each.
  std::string beside(const LockName& name, std::string_view what) const {
    std::string key;
    key.reserve(prefix_.size() + name.text().size() + what.size() + 3);
    key += '{';
    key += prefix_;
    key += name.text();
    key += "}\x01";
    return key += what;
  }

  std::string prefix_;
  Spread spread_;
  std::string channel_prefix_;
};

}  // namespace holdfast::redis
