// One acquisition on its way: enters, looks, sleeps, and enters anew if its session ended.
//
// Thread safety: advance() and sleep() by one thread at a time; nudge() and recheck() by any.

#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <variant>

#include "core/backend.h"
#include "engines/local/engine.h"

namespace holdfast::local {

class Waiting {
 public:
  /// How it is woken: by a thread that sleeps on its contender's signal, or through the keeper's
  /// mail.
  enum class Wake { thread, mail };

  Waiting(Engine& engine,
          std::string_view name,
          const AcquireOptions& options,
          Wake wake,
          const Ticket& ticket,
          TimePoint until);

  /// A confirmed ticket, an error, or nothing: still waiting as standing() says.
  using Progress = std::variant<std::monostate, Ticket, AcquireError>;
  Progress advance(TimePoint now, const std::stop_token& stop);

  const Standing& standing() const { return standing_; }
  TimePoint look_again() const { return std::min(standing_.look_again, until_); }

  /// Sleeps until something may have changed since advance().
  void sleep();

  /// Makes a sleeper look again, as when it is to stop.
  void nudge() { engine_.poke(contender_.load()); }

  /// Nudges if its turn may have come without anybody telling it.
  void recheck(TimePoint now);

  /// The session it relies on: the same however often it enters anew.
  SessionEntry* session_entry() const { return session_entry_; }
  /// Leaves the queue without a result.
  void abandon() { engine_.leave(ticket_); }
  const std::string& name() const { return name_; }
  const AcquireOptions& options() const { return options_; }

 private:
  std::optional<AcquireError> enter_anew(TimePoint now);
  AcquireError give_up(Errc code, TimePoint now);

  Engine& engine_;
  std::string name_;
  std::string label_;
  std::string trace_id_;
  AcquireOptions options_;
  Wake wake_;
  Ticket ticket_;
  SessionEntry* session_entry_;
  TimePoint until_;
  Standing standing_;
  std::uint32_t heard_{0};
  std::atomic<Ref> contender_;
};

/// The engine's request for these options.
Request to_request(const AcquireOptions& options, Waiting::Wake wake);

/// `now + wait`, or never.
TimePoint patience(TimePoint now, Millis wait);

}  // namespace holdfast::local
