// StoreLine: a session for requests that hold nothing: opened with the first of them, and anew when
// it is over.
//
// Thread safety: as Env. Lifetime: that of the Env, whoever else lets go of it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "engines/zookeeper/zookeeper_port.h"

namespace holdfast::zookeeper {

class StoreLine {
 public:
  static std::shared_ptr<StoreLine> create(Env& env, std::shared_ptr<ZookeeperPort> port);
  /// Ends the session.
  ~StoreLine();
  StoreLine(const StoreLine&) = delete;
  StoreLine& operator=(const StoreLine&) = delete;

  /// Fails as ZookeeperSession does. `request` outlives the await.
  Task<Result<Answer>> ask(const SharedRequest& request, TimePoint answer_by);

  /// Sent in their order in one go, and answered in it. The first failure is that of all.
  /// `requests` outlives the await.
  Task<Result<std::vector<Answer>>> ask_all(const std::vector<SharedRequest>& requests,
                                            TimePoint answer_by);

  /// Ends the session until it is needed again. Precondition: nothing is under way.
  void rest();

  /// Counts the sessions: what was read in another one may have been undone by a restored backup.
  std::uint64_t generation() const { return generation_; }

 private:
  explicit StoreLine(std::shared_ptr<ZookeeperPort> port) : port_{std::move(port)} {}

  /// What the session told of itself.
  struct State {
    bool over{false};
    Error refused{};
  };

  ZookeeperSession* session();

  std::shared_ptr<ZookeeperPort> port_;
  std::shared_ptr<State> state_;
  std::unique_ptr<ZookeeperSession> session_;
  std::uint64_t generation_{0};
};

}  // namespace holdfast::zookeeper
