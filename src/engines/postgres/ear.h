// Ear: the session over which this process hears what happens to its leases and its places.
//
// It holds the number of the session at the server, by which others see that this process is there.
// When it ends, another is opened with another number, after a while that grows.
//
// Thread safety: as Env. Lifetime: the Env outlives it; nothing is told after its end.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "base/env.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

class Ear : public std::enable_shared_from_this<Ear> {
 public:
  /// Called between tasks of the Env.
  struct Hearing {
    /// The session has a number from now on, or has none any more.
    std::function<void()> on_change;
    std::function<void(const std::string&)> on_notice;
  };

  /// `timeout`: how long the server has to take the session.
  Ear(Env& env, std::shared_ptr<PostgresPort> port, Millis timeout, Hearing hearing);
  ~Ear();
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  /// Opens a session, now or once it is known that one can be had; without effect where there is
  /// one, or one is being opened.
  void open();

  /// The number of the session. Empty: nothing is heard now.
  std::optional<std::int64_t> session() const { return session_; }

 private:
  enum class State : std::uint8_t {
    closed,
    open,
    /// Another is opened after a while.
    resting,
  };

  void hear(const SessionEvent& event);
  void attend();
  void end();
  static Task<void> open_again(std::weak_ptr<Ear> ear, Env& env, Duration delay);

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  Millis timeout_;
  Hearing hearing_;
  std::unique_ptr<PostgresSession> line_;
  std::optional<std::int64_t> session_;
  State state_{State::closed};
  std::uint32_t attempts_{0};
};

}  // namespace holdfast::postgres
