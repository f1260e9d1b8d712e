// Holdings: the locks that this process holds with its sessions, and what becomes of them.
//
// A lock that is kept for more than a moment has its node watched. When the node is gone, the
// reason is looked for and the holder told.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/lease_engine.h"
#include "engines/zookeeper/zookeeper_parts.h"

namespace holdfast::zookeeper {

class Holdings : public std::enable_shared_from_this<Holdings> {
 public:
  explicit Holdings(std::shared_ptr<Parts> parts) : parts_{std::move(parts)} {}

  void tell(std::weak_ptr<core::LeaseNews> news) { news_ = std::move(news); }

  void add(const Owner& owner, Own own);
  /// Null: the owner holds nothing (any more). Valid until the next call.
  Own* find(const Owner& owner);
  std::optional<Own> take(const Owner& owner);

  /// From now on the end of the owner's node is heard.
  void attend(const Owner& owner);

  /// All locks of the session are lost.
  void hear_of_end(const std::shared_ptr<Session>& session);

 private:
  /// Attends those that are held for a while. False: there is none that could be.
  bool attend_lasting();
  static Task<void> attend_in_time(std::weak_ptr<Holdings> weak, Env& env);
  void watch(const Owner& owner);
  void hear(const Owner& owner, SessionLine::Change change);

  void doubt(const Owner& owner);
  void lose(const Owner& owner, LossReason reason);
  static Task<void> look_into(std::shared_ptr<Holdings> self);
  Task<Result<void>> look_into_one(Owner owner);

  std::shared_ptr<Parts> parts_;
  std::weak_ptr<core::LeaseNews> news_;
  std::map<Owner, Own> held_;
  /// Not attended yet, the oldest first.
  struct Fresh {
    Owner owner;
    TimePoint since;
  };
  std::deque<Fresh> fresh_;
  bool attending_{false};
  /// Their nodes are gone.
  std::set<Owner> doubtful_;
  bool looking_{false};
};

}  // namespace holdfast::zookeeper
