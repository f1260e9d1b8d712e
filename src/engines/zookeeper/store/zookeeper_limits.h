// ZookeeperLimits: where rate limits have their pages in a ZooKeeper ensemble: one node for each
// key, changed under the condition of its version.
//
// Time is the servers' (server_clock.h). ZooKeeper forgets nothing by itself: whoever changes pages
// looks at some of them once a minute, and takes away those that nobody has used for long.
//
// Thread safety: as Env. Lifetime: the Env outlives it.

#pragma once

#include <memory>
#include <string>

#include "core/leased_limits.h"
#include "engines/zookeeper/store/server_clock.h"
#include "engines/zookeeper/store/store_line.h"
#include "engines/zookeeper/zookeeper_nodes.h"

namespace holdfast::zookeeper {

class ZookeeperLimits final : public core::LimitBook {
 public:
  ZookeeperLimits(Env& env, std::shared_ptr<StoreLine> line, const std::string& prefix);

  Task<Result<Duration>> time(TimePoint answer_by) override;
  Task<Result<Swapped>> swap(const std::string& key,
                             const core::LimitPage& seen,
                             core::AheadMark mark,
                             Duration keep,
                             TimePoint answer_by) override;

 private:
  std::string page(const std::string& key) const;
  /// Makes what must be there first.
  Task<Result<void>> lay_ground(TimePoint answer_by);
  Task<Result<core::LimitPage>> look(const std::string& path, TimePoint answer_by);
  void sweep();

  Env& env_;
  std::shared_ptr<StoreLine> line_;
  /// Of all pages. It is written to learn the servers' time.
  std::string root_;
  ServerClock clock_;
  TimePoint swept_at_{TimePoint::min()};
};

/// Takes away pages below `root` that were not used any more at `before`, by the servers' time; of
/// many, some that `draw` chooses. Ends by `answer_by` or soon after.
Task<void> sweep_limits(std::shared_ptr<StoreLine> line,
                        std::string root,
                        Duration before,
                        std::uint64_t draw,
                        TimePoint answer_by);

}  // namespace holdfast::zookeeper
