// ServerClock: the wall clock of the servers, by which the store lets things go.
//
// A node is written to learn it, and then it is counted on by our own clock: one write in ten
// minutes. It goes as the leader's clock does: one that steps makes things go earlier or later.
//
// Thread safety: as Env.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/env.h"
#include "engines/zookeeper/store/store_line.h"

namespace holdfast::zookeeper {

class ServerClock {
 public:
  /// Between these two.
  struct Now {
    Millis earliest{0};
    Millis latest{0};
  };

  /// `path`: a node that is there.
  ServerClock(Env& env, std::string path) : env_{env}, path_{std::move(path)} {}

  /// Asks when it last did ten minutes ago. Fails as the line; not_found: there is no
  /// such node.
  Task<Result<Now>> now(StoreLine& line, TimePoint answer_by);

  /// Without asking. Empty: it is not known.
  std::optional<Now> known() const;

 private:
  struct Reading {
    Millis told{0};
    TimePoint sent_at{};
    TimePoint answered_at{};
  };

  Env& env_;
  std::string path_;
  std::optional<Reading> reading_;
};

}  // namespace holdfast::zookeeper
