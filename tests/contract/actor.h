// An actor is another process that takes locks at the command of a test, and that a test may
// pause, resume and kill.
//
// Thread safety: any member from any thread.

#pragma once

#include <sys/types.h>

#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "holdfast/client.h"
#include "tests/contract/wire.h"

namespace holdfast::contract {

/// How an acquisition in an actor ended.
struct Answer {
  /// Granted when there is no code.
  std::optional<Errc> code;
  std::string message;
  std::string holder_fp;
  Token token{0};
  Owner owner{Owner::Bytes{}};
  TimePoint granted_at{};
  TimePoint valid_until{};

  bool granted() const { return !code.has_value(); }
};

/// What an actor sees of a lease of its own.
struct LeaseView {
  std::string state;
  std::string reason;
  bool ensure_held{false};
  bool stop_requested{false};
  /// How often on_event said `lost`, and when first.
  int loss_events{0};
  TimePoint lost_at{};
  TimePoint valid_until{};
};

class PendingAnswer {
 public:
  explicit PendingAnswer(std::future<Fields> reply) : reply_{std::move(reply)} {}
  /// Throws std::runtime_error when nothing comes within the bound of every wait.
  Answer get();
  bool is_ready() const;

 private:
  std::future<Fields> reply_;
};

class Actor {
 public:
  /// Starts the process and waits until it has connected.
  explicit Actor(const std::string& url);
  /// Kills it.
  ~Actor();
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  /// `lease` is what later calls name it by.
  PendingAnswer begin_acquire(const std::string& lease,
                              const std::string& name,
                              const AcquireOptions& options = {});
  Answer acquire(const std::string& lease,
                 const std::string& name,
                 const AcquireOptions& options = {});
  /// Requests the stop of an acquisition.
  void cancel(const std::string& lease);
  std::string release(const std::string& lease);
  /// Destroys the Lease object.
  void drop(const std::string& lease);
  LeaseView view(const std::string& lease);

  /// Sends any command; see actor_main.cc.
  std::future<Fields> send(Fields command);
  Fields ask(Fields command);

  pid_t pid() const { return pid_; }
  /// Returns when the process stands still.
  void pause();
  void resume();
  /// SIGKILL; returns when the process is gone.
  void kill();
  /// Ends without releasing anything, through exit().
  void quit();

 private:
  void read_replies();
  void reap();

  pid_t pid_{-1};
  int to_{-1};
  int from_{-1};
  std::mutex guard_;
  std::map<std::string, std::promise<Fields>> waiting_;
  int next_id_{0};
  bool ended_{false};
  std::thread reader_;
};

/// The actor's side: serves commands on stdin until its end. Never returns to the tests.
int run_actor(const char* url);

}  // namespace holdfast::contract
