// This process's sessions, one for each TTL in use.
//
// A session is renewed by the keeper's thread while anybody uses it, and by the acquiring thread
// itself when it was idle. An expired session is replaced, never revived.
//
// Thread safety: any thread of this process.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engines/local/layout.h"
#include "engines/local/lifeline.h"
#include "engines/local/state_file.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::local {

/// The session of one TTL. Lives as long as the book.
class SessionEntry {
 public:
  SessionEntry(Duration ttl, SessionEntry* next) : ttl_{ttl}, next_{next} {}

  Duration ttl() const { return ttl_; }
  SessionEntry* next() const { return next_; }
  Ref current() const { return current_.load(std::memory_order_acquire); }

  /// Leases and waiters that rely on it, as the backend counts them.
  std::atomic<std::int64_t> users{0};
  /// Used since the keeper last looked.
  std::atomic<bool> used{false};
  /// The keeper does not look after it: the next user has to wake the keeper.
  std::atomic<bool> dormant{true};
  /// The keeper's last look renewed it. For the keeper's thread alone.
  bool renewed{false};

 private:
  friend class SessionBook;

  Duration ttl_;
  SessionEntry* next_;
  std::atomic<Ref> current_{0};
};

class SessionBook {
 public:
  /// `wake_keeper` is called when a dormant session is used again.
  SessionBook(StateFile& file, Ref member, std::function<void()> wake_keeper)
      : file_{file}, member_{member}, wake_keeper_{std::move(wake_keeper)} {}
  ~SessionBook();

  /// The entry for a TTL, made on first use.
  SessionEntry& entry(Duration ttl) {
    SessionEntry* known = find(ttl);
    return known != nullptr ? *known : add(ttl);
  }

  /// A living session with at least half its TTL ahead. no_space, io_error: the file cannot grow.
  Result<Ref> living(SessionEntry& entry, TimePoint now) {
    entry.used.store(true, std::memory_order_relaxed);
    attend(entry);
    const Ref ref = entry.current();
    if (ref != 0) {
      Lifeline& line = file_.at<Session>(ref).lifeline;
      if (!has_expired(line) && now + entry.ttl() / 2 < deadline_of(line)) return ref;
    }
    return revive(entry, now);
  }

  /// Makes sure that the keeper looks after the session.
  void attend(SessionEntry& entry) {
    if (entry.dormant.load(std::memory_order_relaxed) && entry.dormant.exchange(false)) {
      wake_keeper_();
    }
  }

  void for_each(const std::function<void(SessionEntry&)>& visit);

 private:
  SessionEntry* find(Duration ttl) {
    SessionEntry* entry = first_.load(std::memory_order_acquire);
    while (entry != nullptr && entry->ttl() != ttl) entry = entry->next();
    return entry;
  }
  SessionEntry& add(Duration ttl);
  Result<Ref> revive(SessionEntry& entry, TimePoint now);

  StateFile& file_;
  Ref member_;
  std::function<void()> wake_keeper_;
  std::mutex mutex_;
  std::atomic<SessionEntry*> first_{nullptr};
};

}  // namespace holdfast::local
