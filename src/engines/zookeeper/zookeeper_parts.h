// What the parts of the ZooKeeper engine share.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "core/enlisted.h"
#include "engines/zookeeper/contenders.h"
#include "engines/zookeeper/zookeeper_engine.h"
#include "engines/zookeeper/zookeeper_sessions.h"

namespace holdfast::zookeeper {

/// A contender's place at the ensemble.
struct Place {
  LockName name;
  /// The lock's node.
  std::string lock{};
  std::string id{};
  /// The contender's node. Empty: not known.
  std::string path{};
  /// Its token. Zero: not known to be there.
  Zxid created{0};
  /// A request that creates it went unanswered: it may be there.
  bool unsettled{false};

  /// As a child of the lock's node.
  std::string child() const { return path.substr(path.rfind('/') + 1); }
};

/// A contender of ours: its place, and what keeps it there.
struct Own {
  Place place;
  SessionUse use{};
  /// Hears of its end.
  SessionLine::Listening listening{};
};

/// What a look for a contender by its id found.
struct Traced {
  /// Empty: it is not there.
  std::string path{};
  Zxid created{0};
};

class Contention;

struct Parts {
  Env& env;
  Nodes nodes;
  Settings settings;
  std::shared_ptr<Sessions> sessions{};
  /// Who contends, to hear of the end of sessions.
  core::WeakList<Contention> contending{};

  /// When one request of an operation is to be answered.
  TimePoint attempt_end(TimePoint answer_by) const;

  /// Erases the contender's node, repeating an unanswered request until `answer_by`.
  /// `valid_until`: until then nobody else can have erased it.
  Task<ReleaseOutcome> leave(Own& own, TimePoint valid_until, TimePoint answer_by) const;

  /// The same in the background, for as long as the session stands; it takes the node with it.
  static void leave_at_last(const std::shared_ptr<Parts>& parts,
                            Place place,
                            std::shared_ptr<Session> session);
};

/// Makes the node of a lock, and the nodes above it.
/// not_found: the root of the connection is not there. Otherwise as the port.
Task<Result<void>> make_lock_node(SessionLine& line, std::string path, TimePoint answer_by);

/// Makes a node and the nodes above it, unless they are there.
Task<Result<void>> make_path(SessionLine& line, std::string path, TimePoint answer_by);

/// Looks for a contender by its id. One that is not of this session is not believed, for it goes
/// with the session that made it.
Task<Result<Traced>> trace(Session& session, Place place, TimePoint answer_by);

/// Whether the same request may succeed later.
bool may_pass(Errc code);

}  // namespace holdfast::zookeeper
