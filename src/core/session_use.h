// A session at a server that keeps one lease per process, and those who rely on it.
//
// Thread safety: none; its user serialises the calls.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "holdfast/clock.h"
#include "holdfast/lease.h"

namespace holdfast::core {

template <class Session>
class SessionUse;

/// What every session knows of its users and of its end.
class UsedSession {
 public:
  explicit UsedSession(TimePoint now) : used_at_{now} {}

  /// Why it ended. LossReason::none while it stands.
  LossReason end() const { return end_; }
  bool is_over() const { return end_ != LossReason::none; }

  /// How many rely on it.
  std::size_t users() const { return users_; }
  /// When it was last seen in use.
  TimePoint used_at() const { return used_at_; }
  void note_use(TimePoint now) {
    if (users_ > 0) used_at_ = now;
  }

 protected:
  /// The first reason stays.
  void set_end(LossReason reason) {
    if (!is_over()) end_ = reason;
  }

 private:
  template <class Session>
  friend class SessionUse;

  TimePoint used_at_;
  std::size_t users_{0};
  LossReason end_{LossReason::none};
};

/// Counts as a user of the session for as long as it lives.
template <class Session>
class SessionUse {
 public:
  SessionUse() = default;
  SessionUse(std::shared_ptr<Session> session, TimePoint now) : session_{std::move(session)} {
    UsedSession& used = *session_;
    ++used.users_;
    used.used_at_ = now;
  }
  SessionUse(SessionUse&&) noexcept = default;
  SessionUse& operator=(SessionUse&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    session_ = std::move(other.session_);
    return *this;
  }
  ~SessionUse() { let_go(); }

  explicit operator bool() const { return session_ != nullptr; }
  Session& operator*() const { return *session_; }
  Session* operator->() const { return session_.get(); }
  const std::shared_ptr<Session>& session() const { return session_; }

 private:
  void let_go() noexcept {
    if (UsedSession* const used = session_.get()) --used->users_;
    session_.reset();
  }

  std::shared_ptr<Session> session_;
};

}  // namespace holdfast::core
