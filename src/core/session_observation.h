// SessionObservation: who holds one lock of a SessionBackend, whenever that changes.
//
// It listens where the desk can, and looks after every word it hears. Nothing is relied on for
// longer than the desk says, nor for longer than what is left of the holder's lease: a message that
// is lost costs one such look.
//
// Thread safety: any thread, one next() at a time. Lifetime: keeps the backend alive.

#pragma once

#include <memory>

#include "core/backend.h"
#include "core/session_side.h"

namespace holdfast::core {

class SessionBackend;

class SessionObservation final : public LockObservation {
 public:
  SessionObservation(std::shared_ptr<SessionBackend> backend, LockName name);
  ~SessionObservation() override;
  SessionObservation(const SessionObservation&) = delete;
  SessionObservation& operator=(const SessionObservation&) = delete;

  void next(std::stop_token stop, std::function<void(Result<LockInfo>)> callback) override;

 private:
  struct State;

  static Task<void> answer(std::shared_ptr<State> state,
                           SessionSide side,
                           std::stop_token stop,
                           std::function<void(Result<LockInfo>)> deliver);
  static Task<Result<LockInfo>> look_until_news(std::shared_ptr<State> state,
                                                SessionSide side,
                                                std::stop_token stop);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::core
