// This process's membership: a record in the state file whose life the kernel watches over.
//
// A thread of the engine's own holds the record's robust futex for as long as the process lives,
// and runs the engine's background work.
//
// Thread safety: any thread.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engines/local/futex.h"
#include "engines/local/layout.h"
#include "engines/local/state_file.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::local {

bool is_alive(const Member& member);

/// When background work wants to run next: at a time, or when one of the words is woken.
struct Rest {
  TimePoint until{kNever};
  std::vector<FutexWait> words;
};

/// Background work; runs on the membership's thread.
using Chores = std::function<Rest()>;

class Membership {
 public:
  /// no_space, io_error: the file cannot grow; unavailable: no thread could be started.
  static Result<std::unique_ptr<Membership>> join(StateFile& file);

  /// Stops the thread and gives the record back; the caller has freed what hangs on it.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  Ref ref() const { return ref_; }
  Member& record() { return file_.at<Member>(ref_); }

  /// Begins to run chores; may be called once.
  void start_chores(Chores chores);

  /// No chore runs after this returns. The membership itself goes on.
  void stop_chores();

  /// Makes the chores run soon.
  void wake();

  /// Takes over the record of a dead process so that only this thread tidies it; on the chores'
  /// thread only. If this process dies meanwhile, the record is dead again. False: it is not dead,
  /// or somebody else was faster.
  bool begin_burial(Ref dead);
  enum class Burial { complete, postponed };
  void end_burial(Ref dead, Burial outcome);

 private:
  explicit Membership(StateFile& file) : file_{file} {}

  void run(std::atomic<int>& started);
  bool claim_record();
  bool claim(Ref candidate);
  void loop();

  StateFile& file_;
  Ref ref_{0};
  Chores chores_;
  std::atomic<int> phase_{0};
  std::thread thread_;
  struct RobustList;
  RobustList* robust_{nullptr};
};

}  // namespace holdfast::local
