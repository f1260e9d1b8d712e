#include "cli/run/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "cli/run/lock_environment.h"
#include "cli/run/process_group.h"
#include "cli/run/standard_streams.h"
#include "cli/run/wind_down.h"
#include "cli/signals.h"

namespace holdfast::cli {
namespace {

/// How often to look at what only the guardian would tell, when it may not be able to.
constexpr Duration kLookAgain = std::chrono::milliseconds{20};

/// How long the guardian may keep silent about a program that was to start, or has ended.
constexpr Duration kGuardiansTurn = std::chrono::milliseconds{200};

/// How long after a lost lease's deadline to wait for a group that does not die.
constexpr Duration kHopeless = std::chrono::seconds{2};

bool ends_waiting(int signal) {
  constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  return std::ranges::find(kEnding, signal) != kEnding.end();
}

bool asks_to_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

Supervisor::Supervisor(const RunOptions& options, SharedRun& shared, Start start)
    : options_{options},
      shared_{shared},
      signals_{std::move(start.signals)},
      channel_{std::move(start.channel)},
      guardian_{start.guardian},
      status_{std::move(start.status)},
      keeper_{options, shared},
      end_{shared} {
  facts_.name = options.title();
  facts_.program = options.program.front();
}

Verdict Supervisor::run(Console& console) {
  keeper_.start();
  while (phase_ != Phase::over) {
    wait_for_something();
    // What the guardian has to say comes first: the program may have ended before anything was
    // lost.
    read_reports();
    read_news();
    read_signals();
    if (phase_ == Phase::running) enforce(BootClock::now());
  }
  return settle(console);
}

void Supervisor::wait_for_something() {
  timer_.arm(wake_at());
  std::array<pollfd, 5> events{pollfd{channel_.get(), POLLIN, 0},
                               {keeper_.fd(), POLLIN, 0},
                               {signals_.get(), POLLIN, 0},
                               {program_.get(), POLLIN, 0},
                               {timer_.fd(), POLLIN, 0}};
  poll(events.data(), events.size(), -1);
  if (events[3].revents != 0) {
    program_.reset();
    report_due_at_ = BootClock::now() + kGuardiansTurn;
  }
}

TimePoint Supervisor::wake_at() const {
  if (phase_ == Phase::waiting) return TimePoint::max();
  const TimePoint now = BootClock::now();
  if (on_our_own_ || end_.kill_due(now)) return now + kLookAgain;
  return std::min(end_.next_action(options_.grace), report_due_at_);
}

void Supervisor::read_reports() {
  Report report;
  while (channel_) {
    const Incoming incoming = receive_report(channel_.get(), report);
    if (incoming == Incoming::nothing) return;
    if (incoming == Incoming::message) {
      on_report(report);
    } else {
      on_guardian_gone();
    }
  }
}

void Supervisor::on_report(const Report& report) {
  switch (report.kind) {
    case Report::Kind::started:
      return on_started(report.value);
    case Report::Kind::could_not_start:
      facts_.start_error = report.value;
      return;
    case Report::Kind::stopped:
      return on_stopped(report.value);
    case Report::Kind::exited:
      facts_.wait_status = report.value;
      return;
    case Report::Kind::gone:
      phase_ = Phase::over;
      return;
  }
}

void Supervisor::on_started(pid_t pid) {
  program_ = UniqueFd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  report_due_at_ = TimePoint::max();
  leave_standard_streams();
  status_.started(pid);
  started_ = true;
  for (const int signal : std::exchange(early_signals_, {})) signal_program(signal);
}

// The job stops as a whole, so that the shell takes over, and goes on as a whole.
void Supervisor::on_stopped(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  const pid_t group = shared_.group.load();
  if (wants_terminal && terminal_.ours()) {
    terminal_.lend(group);
  } else if (terminal_.lent()) {
    terminal_.take_back();
    kill(0, SIGSTOP);
    terminal_.lend(group);
  } else if (stop_asked_ || wants_terminal) {
    kill(getpid(), SIGSTOP);
  } else {
    return;
  }
  stop_asked_ = false;
  signal_group(SIGCONT);
}

void Supervisor::on_guardian_gone() {
  channel_.reset();
  if (phase_ == Phase::over) return;
  on_our_own_ = true;
  if (phase_ == Phase::running) {
    end_.begin(EndCause::guardian_gone, BootClock::now() + kAbruptGrace);
  } else {
    keeper_.cancel();
  }
}

void Supervisor::read_news() {
  for (;;) {
    switch (keeper_.take_news()) {
      case Keeper::News::none:
        return;
      case Keeper::News::granted:
        on_granted();
        break;
      case Keeper::News::refused:
        if (!on_our_own_) facts_.refused = keeper_.refusal();
        phase_ = Phase::over;
        break;
      case Keeper::News::lost:
        if (phase_ != Phase::running) break;
        lose(keeper_.loss());
        end_.begin(EndCause::lost, BootClock::now() + kAbruptGrace);
        break;
      case Keeper::News::unwanted:
        if (phase_ == Phase::running) give_way();
        break;
    }
  }
}

void Supervisor::on_granted() {
  granted_ = true;
  if (facts_.interrupted_by != 0 || on_our_own_) {
    phase_ = Phase::over;
    return;
  }
  phase_ = Phase::running;
  StartOrder order{.owners = {}, .terminal = TerminalUse::on_demand, .environment = {}};
  for (const Grant& grant : keeper_.grants()) {
    status_.acquired(grant);
    order.owners.push_back(grant.owner.to_string());
  }
  order.environment = environment_of(keeper_.grants(), keeper_.engine());
  order.terminal = terminal_.wanted();
  if (order.terminal == TerminalUse::at_once) terminal_.note_lent();
  send_start(channel_.get(), order);
  report_due_at_ = BootClock::now() + kGuardiansTurn;
}

// As if it were told to end by a signal, with its grace; the lock is released when it has.
void Supervisor::give_way() {
  successor_ = keeper_.successor();
  if (!started_) early_signals_.push_back(SIGTERM);
  end_.begin(EndCause::unwanted, BootClock::now() + options_.grace);
}

void Supervisor::read_signals() {
  while (const int signal = next_signal(signals_.get())) {
    if (signal == SIGCHLD || signal == SIGTTOU) continue;
    if (phase_ == Phase::waiting) {
      on_signal_while_waiting(signal);
    } else {
      if (asks_to_end(signal)) asked_to_end_by_ = signal;
      signal_program(signal);
    }
  }
}

void Supervisor::signal_program(int signal) {
  if (!started_) {
    early_signals_.push_back(signal);
    return;
  }
  stop_asked_ = stop_asked_ || signal == SIGTSTP;
  signal_group(signal);
}

void Supervisor::on_signal_while_waiting(int signal) {
  if (signal == SIGTSTP) kill(getpid(), SIGSTOP);
  if (!ends_waiting(signal)) return;
  facts_.interrupted_by = signal;
  keeper_.cancel();
}

void Supervisor::signal_group(int signal) {
  const pid_t group = shared_.group.load();
  if (group != 0) kill(-group, signal);
}

void Supervisor::enforce(TimePoint now) {
  end_.enforce(now, options_.grace);
  if (now >= report_due_at_) {
    // The program was to start, or has ended, and nobody told us: the guardian must be stopped.
    kill(guardian_, SIGCONT);
    report_due_at_ = now + kGuardiansTurn;
  }
  const pid_t group = shared_.group.load();
  if (on_our_own_) reap(group);
  const bool gone = on_our_own_ && (group == 0 || group_gone(group));
  const bool guardian_is_late = end_.kill_due(now - kGuardiansTurn);
  if (gone || (guardian_is_late && group != 0 && group_dead(group))) {
    phase_ = Phase::over;
  } else if (ended_for_the_lease() && now >= shared_.deadline() + kHopeless) {
    hopeless_ = true;
    phase_ = Phase::over;
  }
}

// Its guardian dead, the program is our child.
void Supervisor::reap(pid_t group) {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == group) facts_.wait_status = status;
  }
}

bool Supervisor::ended_for_the_lease() const {
  return end_.caused_by(EndCause::jeopardy) || end_.caused_by(EndCause::lost);
}

Verdict Supervisor::settle(Console& console) {
  keeper_.stop();
  terminal_.take_back();
  if (ended_for_the_lease()) {
    lose({Errc::lost,
          fmt::format("the lease on '{}' was not renewed in time; the program was ended",
                      options_.title())});
  }
  if (granted_ && hopeless_) keeper_.abandon();
  if (granted_ && !hopeless_) release();
  if (channel_ && !hopeless_) dismiss_guardian();
  Verdict verdict = judge(facts_);
  verdict.asked_to_end_by = asked_to_end_by_;
  verdict.successor = successor_;
  if (!successor_.empty()) {
    console.note(fmt::format("holdfast: '{}' was given up for {}", options_.title(), successor_));
  }
  if (auto reported = options_.report.finish(); !reported) {
    console.note("holdfast: " + reported.error().message);
  }
  status_.exit(verdict);
  if (verdict.error) {
    // Once the program has run, stdout is its own.
    const bool stdout_is_free = facts_.refused || facts_.start_error != 0;
    (void)(stdout_is_free ? console.fail(*verdict.error) : console.fail_on_stderr(*verdict.error));
  }
  return verdict;
}

void Supervisor::lose(Error error) {
  if (facts_.lost) return;
  status_.lost(error);
  facts_.lost = std::move(error);
}

void Supervisor::release() {
  const bool in_time = BootClock::now() < shared_.deadline();
  const ReleaseOutcome outcome = keeper_.release(interval_after());
  // Gone although its time was not over: broken, or forgotten by the engine, as the program ran.
  if (outcome == ReleaseOutcome::already_lost && in_time) {
    lose({Errc::lost, fmt::format("the lease on '{}' was lost meanwhile", options_.title())});
  }
  status_.released(outcome);
}

Keeper::Interval Supervisor::interval_after() const {
  const bool nothing_ran = facts_.interrupted_by != 0 || facts_.start_error != 0;
  const bool failed = judge(facts_).code != 0;
  const bool may_repeat = failed && options_.on_failure == FailedRun::may_repeat;
  return nothing_ran || may_repeat ? Keeper::Interval::given_back : Keeper::Interval::stays;
}

void Supervisor::dismiss_guardian() {
  if (granted_) send_done(channel_.get());
  channel_.reset();
  kill(guardian_, SIGCONT);
  waitpid(guardian_, nullptr, 0);
}

}  // namespace holdfast::cli
