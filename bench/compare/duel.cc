#include "bench/compare/duel.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "bench/compare/duellists.h"
#include "bench/compare/stage.h"

namespace holdfast::bench {
namespace {

constexpr int kLookEveryMs = 40;

/// A process that ends with its owner.
class Child {
 public:
  template <class Work>
  explicit Child(const Work& work) : pid_{fork()} {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    _exit(0);
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool started() const { return pid_ > 0; }
  bool ended() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ <= 0;
  }

 private:
  pid_t pid_;
};

class SharedStage {
 public:
  SharedStage()
      : memory_{mmap(
            nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)} {
    if (made()) new (memory_) Stage{};
  }
  ~SharedStage() {
    if (made()) munmap(memory_, sizeof(Stage));
  }
  SharedStage(const SharedStage&) = delete;
  SharedStage& operator=(const SharedStage&) = delete;

  bool made() const { return memory_ != MAP_FAILED; }
  Stage& operator*() const { return *static_cast<Stage*>(memory_); }

 private:
  void* memory_;
};

/// Sleeps for a moment. Whether it was woken by the request to end.
bool is_interrupted(int interrupt) {
  pollfd entry{.fd = interrupt, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, kLookEveryMs) > 0;
}

void tell(const DuelOptions& options, const Stage& stage, Duration spent) {
  if (!options.progress) return;
  const double part = std::chrono::duration<double>{spent} / kUsualDuel;
  const bool handing_over = stage.part.load() == Stage::Part::hand_overs;
  options.progress(handing_over ? "hand-over between two processes" : "acquire and release",
                   std::min(part, 1.0));
}

Result<Figures> watch(const DuelOptions& options, const Stage& stage, Child& giver) {
  const TimePoint begun = BootClock::now();
  for (;;) {
    // Looked at first: what a process that has ended has left behind is complete.
    const bool ended = giver.ended();
    const Stage::Part part = stage.part.load();
    if (part == Stage::Part::done) return stage.figures;
    if (part == Stage::Part::failed) return Unexpected{stage.failure()};
    if (ended) return Unexpected{Error{Errc::internal, "the process that measures has died"}};
    const Duration spent = BootClock::now() - begun;
    if (spent > kDuelLimit) {
      return Unexpected{Error{Errc::timeout,
                              "it did not come to an end within 15 s",
                              "see 'holdfast doctor' whether the engine is well"}};
    }
    tell(options, stage, spent);
    if (is_interrupted(options.interrupt)) {
      return Unexpected{
          Error{Errc::cancelled, "interrupted before everything was measured", "run it again"}};
    }
  }
}

}  // namespace

Result<Figures> run_duel(const DuelOptions& options) {
  const SharedStage stage;
  if (!stage.made()) {
    return Unexpected{Error{Errc::io_error, "cannot make room for the comparison"}};
  }
  Child receiver{[&] { receive(*stage, options.url); }};
  Child giver{[&] { give(*stage, options); }};
  if (!giver.started() || !receiver.started()) {
    return Unexpected{Error{Errc::io_error, std::string{"cannot fork: "} + std::strerror(errno)}};
  }
  return watch(options, *stage, giver);
}

}  // namespace holdfast::bench
