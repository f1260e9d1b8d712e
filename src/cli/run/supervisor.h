// The process the user started: holds the leases of a run, passes signals on, settles the end.
//
// Should the guardian die or be stopped, the supervisor does its work: it ends the program's group
// when the lease is in danger, and waits for it.

#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/console.h"
#include "cli/run/boot_timer.h"
#include "cli/run/channel.h"
#include "cli/run/group_end.h"
#include "cli/run/keeper.h"
#include "cli/run/run_options.h"
#include "cli/run/shared_run.h"
#include "cli/run/status_stream.h"
#include "cli/run/terminal.h"
#include "cli/run/verdict.h"

namespace holdfast::cli {

class Supervisor {
 public:
  struct Start {
    /// The signals to pass on, and SIGCHLD; all of them blocked.
    UniqueFd signals;
    /// The supervisor's end of the channel to the guardian.
    UniqueFd channel;
    UniqueFd status;
    pid_t guardian;
  };

  /// `options` and `shared` must outlive this.
  Supervisor(const RunOptions& options, SharedRun& shared, Start start);

  /// Waits for the lock, has the program run, releases the lock.
  Verdict run(Console& console);

 private:
  enum class Phase { waiting, running, over };

  void wait_for_something();
  TimePoint wake_at() const;

  void read_reports();
  void on_report(const Report& report);
  void on_started(pid_t pid);
  void on_stopped(int signal);
  void on_guardian_gone();

  void read_news();
  void on_granted();
  void give_way();

  void read_signals();
  void on_signal_while_waiting(int signal);
  void signal_program(int signal);
  void signal_group(int signal);

  void enforce(TimePoint now);
  void reap(pid_t group);
  bool ended_for_the_lease() const;

  Verdict settle(Console& console);
  void lose(Error error);
  void release();
  Keeper::Interval interval_after() const;
  void dismiss_guardian();

  const RunOptions& options_;
  SharedRun& shared_;
  UniqueFd signals_;
  UniqueFd channel_;
  pid_t guardian_;
  StatusStream status_;
  Terminal terminal_;
  Keeper keeper_;
  GroupEnd end_;
  BootTimer timer_;
  /// Readable when the program has ended, whether or not the guardian says so.
  UniqueFd program_;
  TimePoint report_due_at_{TimePoint::max()};
  RunFacts facts_;
  Phase phase_{Phase::waiting};
  bool granted_{false};
  bool started_{false};
  /// Came when the lease was granted and the program not yet known to run.
  std::vector<int> early_signals_;
  /// The guardian died.
  bool on_our_own_{false};
  /// We were asked to stop, and have passed that on.
  bool stop_asked_{false};
  int asked_to_end_by_{0};
  std::string successor_;
  /// The lease is lost and the group does not die: the guardian goes on trying.
  bool hopeless_{false};
};

}  // namespace holdfast::cli
