// A process of a demonstration, as its director sees it: started, told, stopped, continued.

#pragma once

#include <sys/types.h>

#include "holdfast/clock.h"
#include "holdfast/result.h"
#include "lab/message.h"
#include "lab/worker.h"

namespace holdfast::lab {

/// Thread safety: none. Killed and waited for at the end of its life.
class Actor {
 public:
  /// Forks. The calling process must have no second thread and no Client. `interrupt` is a
  /// descriptor that becomes readable when the user wants an end, or -1. io_error: no process.
  static Result<Actor> start(const Role& role, int interrupt);

  ~Actor();
  Actor(Actor&& other) noexcept;
  Actor& operator=(Actor&&) = delete;

  Result<void> send(const Command& command);
  /// What it answers to the oldest command. cancelled: the user wants an end; timeout: it says
  /// nothing for far too long; internal: it ended.
  Result<Report> receive();

  /// SIGSTOP; returns when it has stopped.
  Result<void> stop();
  /// SIGCONT; returns when it goes on.
  Result<void> resume();

 private:
  Actor(pid_t pid, int socket, int interrupt) : pid_{pid}, socket_{socket}, interrupt_{interrupt} {}

  pid_t pid_;
  int socket_;
  int interrupt_;
};

}  // namespace holdfast::lab
