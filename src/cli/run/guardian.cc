#include "cli/run/guardian.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cli/run/boot_timer.h"
#include "cli/run/channel.h"
#include "cli/run/child.h"
#include "cli/run/group_end.h"
#include "cli/run/process_group.h"
#include "cli/run/standard_streams.h"
#include "cli/run/wind_down.h"
#include "cli/signals.h"
#include "holdfast/client.h"

namespace holdfast::cli {
namespace {

/// How often to look again at processes of the group whose end nobody tells us.
constexpr Duration kGroupLookAgain = std::chrono::milliseconds{20};

/// How long after the kill to wait for those who have to wait for the killed.
constexpr Duration kParentsTurn = std::chrono::milliseconds{50};

/// How long a supervisor that runs needs to release the lock by itself.
constexpr Duration kSupervisorsTurn = std::chrono::milliseconds{50};

class Guardian {
 public:
  Guardian(const RunOptions& options,
           SharedRun& shared,
           UniqueFd channel,
           const sigset_t& signal_mask)
      : options_{options},
        shared_{shared},
        channel_{std::move(channel)},
        signal_mask_{signal_mask},
        end_{shared} {}

  void run() {
    become_quiet_reaper();
    const auto order = receive_start(channel_.get());
    if (!order) return;
    start(*order);
    while (!group_is_gone()) {
      end_.enforce(BootClock::now(), options_.grace);
      wait_for_something();
      reap();
      listen();
    }
    shared_.group.store(0);
    report(Report::Kind::gone, 0);
    if (!supervisor_settles()) release(order->owners);
  }

 private:
  void become_quiet_reaper() {
    prctl(PR_SET_NAME, kGuardianName);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Out of the way of the terminal's signals; what concerns the program reaches it otherwise.
    setpgid(0, 0);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    children_ = open_signals({SIGCHLD});
  }

  void start(const StartOrder& order) {
    // The supervisor may have been stopped between the grant and this order.
    if (BootClock::now() >= end_.next_action(options_.grace)) {
      end_.begin(EndCause::jeopardy, BootClock::now());
      return;
    }
    const ChildSpec child{.program = options_.program,
                          .environment = order.environment,
                          .signal_mask = signal_mask_,
                          .terminal = order.terminal};
    const StartedChild started = start_child(child);
    program_ = started.pid;
    ended_ = program_ == 0;
    shared_.group.store(program_);
    leave_standard_streams();
    if (ended_) {
      report(Report::Kind::could_not_start, started.error);
    } else {
      report(Report::Kind::started, program_);
    }
  }

  bool group_is_gone() {
    if (program_ == 0) return true;
    if (!ended_) return false;
    // Those that ended are waited for by their parents, and a parent outside the group may not.
    const bool no_more_patience = end_.kill_due(BootClock::now() - kParentsTurn);
    if (no_more_patience ? !group_dead(program_) : !group_gone(program_)) return false;
    siginfo_t ignored{};
    const bool childless = waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) != 0;
    return childless || !adopted_guardian();
  }

  void wait_for_something() {
    TimePoint wake_at = end_.next_action(options_.grace);
    if (ended_ || end_.begun()) wake_at = std::min(wake_at, BootClock::now() + kGroupLookAgain);
    poll_until(wake_at, supervisor_gone_ ? -1 : channel_.get());
  }

  void poll_until(TimePoint wake_at, int channel) {
    timer_.arm(wake_at);
    std::array<pollfd, 3> events{
        pollfd{channel, POLLIN, 0}, {children_.get(), POLLIN, 0}, {timer_.fd(), POLLIN, 0}};
    poll(events.data(), events.size(), -1);
    while (next_signal(children_.get()) != 0) {
    }
  }

  void reap() {
    int status = 0;
    for (;;) {
      const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
      if (pid <= 0) return;
      if (pid != program_) continue;
      if (WIFSTOPPED(status)) {
        report(Report::Kind::stopped, WSTOPSIG(status));
      } else {
        on_program_ended(status);
      }
    }
  }

  void on_program_ended(int status) {
    ended_ = true;
    report(Report::Kind::exited, status);
    if (!group_gone(program_)) {
      end_.begin(EndCause::leftover, BootClock::now() + options_.grace);
    }
  }

  void listen() {
    if (supervisor_gone_ || receive_done(channel_.get()) != Incoming::end) return;
    supervisor_gone_ = true;
    end_.begin(EndCause::supervisor_gone, BootClock::now() + kAbruptGrace);
  }

  // Whether the supervisor has released the lock. It may be stopped, and then waiting for it
  // would only keep others waiting.
  bool supervisor_settles() {
    if (supervisor_gone_) return false;
    const TimePoint now = BootClock::now();
    const bool likely_stopped = end_.caused_by(EndCause::jeopardy);
    const TimePoint patience =
        likely_stopped ? now + kSupervisorsTurn : std::max(shared_.deadline(), now);
    for (;;) {
      const Incoming incoming = receive_done(channel_.get());
      if (incoming != Incoming::nothing) return incoming == Incoming::message;
      if (BootClock::now() >= patience) return false;
      poll_until(patience, channel_.get());
    }
  }

  void release(const std::vector<std::string>& owners) {
    auto client = Client::connect(options_.engine);
    if (!client) return;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const auto owner = Owner::parse(owners[i]);
      if (owner) (void)client->release(options_.names[i], *owner);
    }
  }

  void report(Report::Kind kind, int value) {
    send_report(channel_.get(), {.kind = kind, .value = value});
  }

  const RunOptions& options_;
  SharedRun& shared_;
  UniqueFd channel_;
  const sigset_t& signal_mask_;
  GroupEnd end_;
  BootTimer timer_;
  UniqueFd children_;
  pid_t program_{0};
  bool ended_{false};
  bool supervisor_gone_{false};
};

}  // namespace

void be_guardian(const RunOptions& options,
                 SharedRun& shared,
                 UniqueFd channel,
                 const sigset_t& signal_mask) {
  Guardian{options, shared, std::move(channel), signal_mask}.run();
  _exit(0);
}

}  // namespace holdfast::cli
