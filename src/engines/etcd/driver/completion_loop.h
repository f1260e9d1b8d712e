// CompletionLoop: where gRPC tells that its operations have ended, and how the Env hears of it.
//
// One thread waits for gRPC; all that has ended since the Env looked last is handed over at once.
//
// Thread safety: close() from any thread, everything else as Env.

#pragma once

#include <grpcpp/completion_queue.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/env.h"

namespace holdfast::etcd {

/// An operation under way; its address is the tag. Whoever begins it gives it away.
class Completion {
 public:
  enum class Way : std::uint8_t { well, badly };

  virtual ~Completion() = default;
  /// It has ended. Between tasks of the Env.
  virtual void ended(std::unique_ptr<Completion> self, Way way) = 0;
};

class CompletionLoop {
 public:
  /// io_error is thrown as std::system_error when the system has no thread left.
  explicit CompletionLoop(Env& env);
  /// Waits for all operations, which somebody has cancelled; nobody is told.
  ~CompletionLoop();
  CompletionLoop(const CompletionLoop&) = delete;
  CompletionLoop& operator=(const CompletionLoop&) = delete;

  grpc::CompletionQueue& queue() { return queue_; }

  /// From now on nobody is told, and the Env is not touched.
  void close();
  bool is_open() const { return inbox_->open; }

 private:
  struct Ended {
    std::unique_ptr<Completion> completion;
    Completion::Way way;
  };
  struct Inbox {
    std::mutex mutex;
    /// Written under the mutex.
    std::atomic<bool> open{true};
    std::vector<Ended> ended;
  };

  void run(Env& env);
  static void hand_over(const std::shared_ptr<Inbox>& inbox);

  grpc::CompletionQueue queue_;
  std::shared_ptr<Inbox> inbox_{std::make_shared<Inbox>()};
  std::thread thread_;
};

}  // namespace holdfast::etcd
