// TaskStore: a store whose operations are tasks of an Env, asked over a port.
//
// Thread safety: any thread. Lifetime: it may outlive its Env, whose end it learns of: the port is
// let go, who still waits is told shutting_down, and so is every call from then on. The same in a
// forked child.

#pragma once

#include <memory>

#include "base/dispatcher.h"
#include "base/env.h"
#include "core/store_backend.h"

namespace holdfast::core {

class TaskStore : public StoreBackend, public std::enable_shared_from_this<TaskStore> {
 public:
  /// `port`: what settle() asks. Nobody needs to know its kind to let it go in time.
  TaskStore(Env& env, std::shared_ptr<void> port);
  ~TaskStore() override;

  /// Blocks the thread, which is not the Env's. The Env lives until it returns.
  StoreResult perform(const StoreRequest& request) override;

  /// The callback runs on a thread of the store's own.
  void async_perform(StoreRequest request, StoreCallback callback) override;

 protected:
  Env& env() { return env_; }

 private:
  class Answer;
  /// The way to the server, as long as there is an Env, and who waits for an answer.
  class Gate;
  class Sentinel;

  /// Does what is asked, in a task of the Env. The port is there for as long as it runs, and
  /// `request` outlives the await.
  virtual Task<StoreResult> settle(const StoreRequest& request) = 0;

  bool forked() const;
  /// Where the answer is to go. Empty: it has been refused.
  std::shared_ptr<Answer> admit(StoreCallback callback);
  static Task<void> run(std::shared_ptr<TaskStore> self,
                        StoreRequest request,
                        std::shared_ptr<Answer> answer);

  Env& env_;
  std::uint32_t generation_;
  std::shared_ptr<Gate> gate_;
  Dispatcher dispatcher_;
};

/// What the caller is told when the last of its attempts was not answered.
StoreError unanswered(const StoreRequest& request);

}  // namespace holdfast::core
