// ZookeeperStore: the store in a ZooKeeper ensemble, each change one transaction.
//
// All that is stored under a key is one node, and a change is made under the condition of the
// version of that node that it was decided on: one round trip where the node is known from before,
// otherwise two.
//
// Where the holder's lock is in the same ensemble, its writes also check the node by which it holds
// the lock: they are refused from the moment on at which the lock is released or expires, even
// before a new holder opens the resource.
//
// A holder reads behind a change that a majority has agreed to. Other reads are behind a sync: a
// leader that was cut off may answer them for a while yet.
//
// Thread safety and lifetime: as TaskStore.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/env.h"
#include "core/marked_store.h"
#include "engines/zookeeper/store/server_clock.h"
#include "engines/zookeeper/store/store_line.h"
#include "engines/zookeeper/store/store_node.h"
#include "engines/zookeeper/zookeeper_nodes.h"

namespace holdfast::zookeeper {

/// Of a value: the servers take requests of a little less than 1 MiB, and it is not alone in one.
inline constexpr std::size_t kStoredBytesMax = 1'000'000;

struct StoreSettings {
  /// Of the engine.
  std::string prefix{"/hf"};
  /// Of the locks in this ensemble, as sequencers have it. Empty: there are none to look at.
  std::string domain{};
  /// How long an operation takes at most. More than 5 minutes count as that.
  Millis timeout{5000};
  /// How a request is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  /// Who this is, for the record of what administrators do.
  std::string who{};
};

class ZookeeperStore final : public core::MarkedStore {
 public:
  ZookeeperStore(Env& env, const std::shared_ptr<StoreLine>& line, StoreSettings settings);

 private:
  /// What was last seen of a node.
  struct Remembered {
    std::string head;
    Version version{0};
    TimePoint seen_at{};
    std::uint64_t generation{0};
  };

  core::StoreSight recall(const StoreRequest& request) override;
  void forget(const StoreRequest& request) override;
  Task<Result<Attempt>> attempt(const Course& course,
                                const core::StoreChange* change,
                                TimePoint answer_by) override;

  std::string path_of(const StoreRequest& request) const;
  void remember(const StoreRequest& request, Remembered seen);
  Task<Result<Attempt>> look(const StoreRequest& request, TimePoint answer_by);
  Task<Result<Attempt>> change_it(const Course& course,
                                  const core::StoreChange& change,
                                  TimePoint answer_by);
  /// Whether what passes has passed.
  Task<Result<bool>> has_passed(Millis at, TimePoint answer_by);
  /// The node by which the holder that asks has its lock, as StoreSight has it.
  Task<Result<std::string>> contender_of(const StoreRequest& request,
                                         const core::StoreSight& sight,
                                         TimePoint answer_by);
  Task<Result<std::string>> search_contender(const core::Holder& holder, TimePoint answer_by);
  /// Makes what must be there first.
  Task<Result<void>> lay_ground(TimePoint answer_by);
  void sweep();

  StoreLine* line_;
  /// For what goes on after an operation.
  std::weak_ptr<StoreLine> shared_line_;
  StoreSettings settings_;
  Nodes nodes_;
  StoreNodes places_;
  ServerClock clock_;
  TimePoint swept_at_{TimePoint::min()};
  std::unordered_map<std::string, Remembered> remembered_;
};

}  // namespace holdfast::zookeeper
