// SimEtcdWatches: what a port watches at a model cluster, over one stream at a time.
//
// A stream hands over in order what the member says. The client asks every second whether all is
// well; when nobody answered, when something was said that has not arrived since, or when the
// member has no leader, it begins another stream at the next member, from where each watch was.
//
// Thread safety: none. Lifetime: shared by the port and the messages under way.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim/etcd/sim_etcd_route.h"

namespace holdfast::sim {

struct SimEtcdWatches {
  struct One {
    etcd::WatchId id;
    etcd::Watch watch;
    etcd::OnWatch on_watch;
    bool over{false};
    /// The first revision that was not told. Zero: it begins when the member hears of it.
    etcd::Revision next{0};
  };

  struct Stream {
    std::size_t member{0};
    // At the member.
    std::map<etcd::WatchId, EtcdModel::WatcherId> watchers{};
    std::uint64_t said{0};
    // At the client.
    std::uint64_t heard{0};
    std::map<std::uint64_t, std::pair<std::shared_ptr<One>, etcd::WatchNews>> early{};
    /// Whether the last question was answered.
    bool answered{true};
    /// What had been said when it was.
    std::uint64_t known_said{0};
    bool broken{false};
  };

  std::shared_ptr<SimEtcdRoute> route;
  std::vector<std::shared_ptr<One>> watches{};
  std::shared_ptr<Stream> stream{};
  std::uint64_t last_id{0};
  bool kept_up{false};
};

etcd::WatchId begin_watch(const std::shared_ptr<SimEtcdWatches>& to,
                          etcd::Watch watch,
                          etcd::OnWatch on_watch);

void end_watch(SimEtcdWatches& of, etcd::WatchId id);

/// The process is gone, and hears nothing more.
void end_all(SimEtcdWatches& of);

}  // namespace holdfast::sim
