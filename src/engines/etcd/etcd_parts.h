// What the parts of the etcd engine share.

#pragma once

#include <memory>

#include "base/env.h"
#include "core/enlisted.h"
#include "engines/etcd/etcd_engine.h"
#include "engines/etcd/etcd_keys.h"
#include "engines/etcd/etcd_sessions.h"
#include "engines/etcd/key_watches.h"
#include "engines/etcd/lock_txns.h"

namespace holdfast::etcd {

/// A contender of ours: its place, and what keeps it there.
struct Own {
  Place place;
  SessionUse use{};
  /// Hears of its end.
  KeyWatches::Listening listening{};
};

struct Parts {
  Env& env;
  std::shared_ptr<EtcdPort> port;
  Keys keys;
  Settings settings;
  std::shared_ptr<Sessions> sessions{};
  std::shared_ptr<KeyWatches> watches{};
  /// Who contends, to hear of the end of sessions.
  core::WeakList<Contention> contending{};

  /// When one request of an operation is to be answered.
  TimePoint attempt_end(TimePoint answer_by) const;

  /// Erases the contender's key, repeating an unanswered request until `answer_by`.
  /// `valid_until`: until then nobody else can have erased it.
  Task<ReleaseOutcome> leave(Place place, TimePoint valid_until, TimePoint answer_by) const;

  /// The same in the background, for as long as the session stands; it takes the key with it.
  static void leave_at_last(const std::shared_ptr<Parts>& parts,
                            Place place,
                            std::shared_ptr<Session> session);
};

/// Whether the same request may succeed later.
bool may_pass(Errc code);

}  // namespace holdfast::etcd
