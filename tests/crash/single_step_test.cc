// Goal: a process may be killed after every single instruction of every operation of the local
// engine, and nobody else notices more than that it is gone.
// Method: step a victim n instructions into the operation with ptrace, kill it, and let another
// process use the same lock; for n = 0, 1, 2 … until the operation is over. HOLDFAST_STRIDE asks
// for every so-many-th n alone.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cstdlib>
#include <optional>

#include "engines/local/engine.h"
#include "engines/local/local_backend.h"
#include "engines/local/survey.h"
#include "engines/local/test_directory.h"
#include "tests/crash/victim.h"

namespace holdfast::crash {
namespace {

constexpr AcquireOptions kPatient{.ttl = Millis{30'000}, .wait = Millis{20'000}};

const std::size_t kStride = [] {
  const char* asked = std::getenv("HOLDFAST_STRIDE");
  return asked == nullptr ? std::size_t{1} : std::strtoull(asked, nullptr, 10);
}();

class Tracee {
 public:
  Tracee(const std::string& directory, const std::string& name, Operation operation)
      : pid_{spawn({"--victim", directory, name, to_string(operation)})} {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSTOPPED(status)) << "the victim did not get ready: " << status;
    ready_ = WIFSTOPPED(status);
  }
  ~Tracee() { kill_now(); }

  bool ready() const { return ready_; }

  enum class Step { stepped, operation_over };
  Step step() {
    int status = 0;
    EXPECT_EQ(ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr), 0);
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSTOPPED(status)) << "the victim ended by itself: " << status;
    const bool stopped_itself = !WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP;
    EXPECT_TRUE(stopped_itself || WSTOPSIG(status) == SIGTRAP) << "signal " << WSTOPSIG(status);
    return stopped_itself ? Step::operation_over : Step::stepped;
  }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
  bool ready_{false};
};

class SingleStepTest : public ::testing::TestWithParam<Operation> {
 protected:
  void SetUp() override { open(); }

  void open() {
    auto backend = local::open_backend(directory_.path());
    ASSERT_TRUE(backend.has_value());
    backend_ = *backend;
  }

  std::shared_ptr<LeaseCore> acquire(const AcquireOptions& options = kPatient) {
    auto lease = backend_->acquire(name_, options, {});
    EXPECT_TRUE(lease.has_value()) << (lease ? "" : lease.error().message);
    return lease ? *lease : nullptr;
  }

  // Everybody else goes on: the lock is had, its token is above all before, the file is whole.
  void expect_going_on(const std::shared_ptr<LeaseCore>& lease) {
    ASSERT_NE(lease, nullptr);
    EXPECT_GT(lease->token().value(), newest_token_);
    newest_token_ = lease->token().value();
    EXPECT_EQ(lease->release(), ReleaseOutcome::released);
    auto* local = dynamic_cast<local::LocalBackend*>(backend_.get());
    EXPECT_NE(local::survey(local->protocol().file()), local::Survey::damaged);
  }

  // The highest token anybody was seen to have.
  void note_tokens() {
    const auto info = backend_->inspect(name_);
    ASSERT_TRUE(info.has_value());
    for (const auto& holder : info->holders) {
      newest_token_ = std::max(newest_token_, holder.token.value());
    }
  }

  // One life of a victim. True: the operation was over before `steps` instructions.
  bool live_and_die(std::size_t steps);

  local::TestDirectory directory_;
  std::shared_ptr<Backend> backend_;
  std::string name_{"lock"};
  std::uint64_t newest_token_{0};
};

bool needs_holder_ahead(Operation operation) {
  return operation == Operation::enqueue || operation == Operation::leave_queue ||
         operation == Operation::take_over;
}

bool adds_name(Operation operation) {
  return operation == Operation::acquire_new_name || operation == Operation::grow;
}

bool SingleStepTest::live_and_die(std::size_t steps) {
  if (adds_name(GetParam())) name_ = "lock " + std::to_string(steps);
  if (GetParam() == Operation::grow) {
    // Opened by nobody else, the file begins small again.
    backend_.reset();
    open();
  }
  std::shared_ptr<LeaseCore> ahead;
  if (needs_holder_ahead(GetParam())) ahead = acquire();
  std::optional<Tracee> corpse;
  if (GetParam() == Operation::take_over_from_the_dead) {
    corpse.emplace(directory_.path(), name_, Operation::hand_over);
  }
  Tracee victim{directory_.path(), name_, GetParam()};
  if (!victim.ready()) return true;
  note_tokens();
  if (GetParam() == Operation::take_over) ahead->release();
  if (corpse) corpse->kill_now();

  bool over = false;
  std::shared_ptr<LeaseCore> next;
  std::thread waiter;
  if (GetParam() == Operation::hand_over) waiter = std::thread{[&] { next = acquire(); }};
  while (waiter.joinable() && backend_->inspect(name_)->waiters.empty()) std::this_thread::yield();
  for (std::size_t n = 0; n < steps && !over; ++n)
    over = victim.step() == Tracee::Step::operation_over;
  victim.kill_now();
  if (ahead) ahead->release();
  if (waiter.joinable()) {
    waiter.join();
  } else {
    next = acquire();
  }
  expect_going_on(next);
  return over;
}

TEST_P(SingleStepTest, KilledAfterEveryInstruction) {
  std::size_t steps = 0;
  while (!live_and_die(steps) && !HasFailure()) steps += kStride;
  EXPECT_FALSE(HasFailure()) << "after " << steps << " instructions";
  RecordProperty("instructions", static_cast<int>(steps));
  std::printf("%s: killed within %zu instructions, after every one that %zu divides\n",
              to_string(GetParam()).c_str(),
              steps,
              kStride);
  EXPECT_GT(steps, 20U);
}

INSTANTIATE_TEST_SUITE_P(Local,
                         SingleStepTest,
                         ::testing::Values(Operation::acquire_new_name,
                                           Operation::acquire_known_name,
                                           Operation::acquire_detached,
                                           Operation::release,
                                           Operation::renew_session,
                                           Operation::renew_detached,
                                           Operation::enqueue,
                                           Operation::leave_queue,
                                           Operation::hand_over,
                                           Operation::take_over,
                                           Operation::take_over_from_the_dead,
                                           Operation::grow),
                         [](const auto& operation) { return to_string(operation.param); });

}  // namespace
}  // namespace holdfast::crash
