// SessionAcquisition: one request for a lock at a SessionBackend, from the call to its answer.
//
// Thread safety: made on any thread, then run as a task of the Env. It does not keep the backend
// alive: when that is gone before the answer, what was granted is given back.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "core/session_side.h"

namespace holdfast::core {

class SessionBackend;

class SessionAcquisition {
 public:
  using Deliver = std::function<void(AcquireResult)>;

  /// Gives up when either the caller or the backend asks to stop. `deliver` is called once, on the
  /// Env's thread or on the one that destroys it; it must not block.
  SessionAcquisition(const std::shared_ptr<SessionBackend>& backend,
                     std::string_view name,
                     const AcquireOptions& options,
                     std::stop_token caller,
                     Deliver deliver);
  /// Not answered yet: it is shutting_down.
  ~SessionAcquisition();
  SessionAcquisition(const SessionAcquisition&) = delete;
  SessionAcquisition& operator=(const SessionAcquisition&) = delete;

  static Task<void> run(std::shared_ptr<SessionAcquisition> self, SessionSide side);

 private:
  struct Forward {
    std::stop_source to;
    void operator()() { to.request_stop(); }
  };

  Task<AcquireResult> take_kept(SessionSide side);
  Task<AcquireResult> take_detached(SessionSide side);
  Task<AcquireError> explain(SessionSide side, AcquireError error);
  LeaseSession::Wanted wanted() const;
  void deliver(AcquireResult result);

  std::weak_ptr<SessionBackend> backend_;
  Env& env_;
  Millis timeout_;
  LockName name_;
  Claim claim_;
  Millis lock_delay_;
  LeaseKind kind_;
  Millis ttl_;
  Millis wait_;
  std::string note_;
  TimePoint wait_until_;
  Deliver deliver_;
  std::stop_token ending_;
  std::stop_source stop_;
  std::stop_callback<Forward> on_caller_;
  std::stop_callback<Forward> on_ending_;
};

}  // namespace holdfast::core
