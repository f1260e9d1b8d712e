// Looking at advisory locks from outside: PostgreSQL's own list of them, with the notes of
// Holdfast's sessions.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/ids.h"
#include "engines/postgres/postgres_port.h"
#include "holdfast/inspect.h"

namespace holdfast::postgres::advisory {

/// A contender, and what it takes to end it.
struct Seen {
  Contender contender;
  /// The server's process.
  std::string backend;
  /// Of Holdfast's own; none: of another program.
  std::optional<std::string> session;
};

/// One lock as it was at some moment.
struct Sight {
  /// With its prefix. Empty: nobody has told it.
  std::string full_name;
  std::vector<Seen> holders;
  std::vector<Seen> waiters;

  LockInfo info(std::string name) const;
};

/// One lock, whoever has it. A holder writes its note a moment after it was granted the lock: that
/// long this waits for it.
Task<Result<Sight>> look_at(Env& env,
                            std::shared_ptr<PostgresPort> port,
                            std::int64_t key,
                            TimePoint answer_by);

/// All locks of Holdfast's whose full names begin so, in order of names.
Task<Result<std::vector<Sight>>> look_at_all(Env& env,
                                             std::shared_ptr<PostgresPort> port,
                                             std::string beginning,
                                             TimePoint answer_by);

}  // namespace holdfast::postgres::advisory
