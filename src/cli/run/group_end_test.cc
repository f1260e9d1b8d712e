#include "cli/run/group_end.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A process that leads its own group and waits for a signal to end it.
class GroupEndTest : public testing::Test {
 protected:
  void SetUp() override {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      setpgid(0, 0);
      for (;;) pause();
    }
    setpgid(child_, child_);
    shared_.group.store(child_);
    shared_.publish(now_ + seconds{30}, seconds{30});
  }

  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  int ended_by() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  const TimePoint now_ = BootClock::now();
  SharedRun shared_;
  GroupEnd end_{shared_};
  pid_t child_{0};
};

TEST_F(GroupEndTest, FarFromTheDeadlineNothingHappens) {
  end_.enforce(now_, seconds{5});
  EXPECT_FALSE(end_.begun());
  EXPECT_EQ(end_.next_action(seconds{5}), now_ + seconds{25});
}

TEST_F(GroupEndTest, NearTheDeadlineTheGroupGetsTerm) {
  end_.enforce(now_ + seconds{25}, seconds{5});
  EXPECT_TRUE(end_.caused_by(EndCause::jeopardy));
  EXPECT_EQ(ended_by(), SIGTERM);
}

TEST_F(GroupEndTest, WhenItIsTimeTheGroupIsKilled) {
  shared_.causes.store(static_cast<std::uint32_t>(EndCause::leftover));
  end_.begin(EndCause::jeopardy, now_);
  end_.enforce(now_, seconds{5});
  EXPECT_EQ(ended_by(), SIGKILL) << "only the first cause sends TERM";
}

TEST_F(GroupEndTest, TheEarliestKillStands) {
  shared_.causes.store(static_cast<std::uint32_t>(EndCause::leftover));
  end_.begin(EndCause::lost, now_ + milliseconds{80});
  end_.begin(EndCause::leftover, now_ + seconds{5});
  EXPECT_FALSE(end_.kill_due(now_ + milliseconds{79}));
  EXPECT_TRUE(end_.kill_due(now_ + milliseconds{80}));
}

TEST_F(GroupEndTest, ARenewalMovesTheDeadline) {
  shared_.publish(now_ + seconds{40}, seconds{30});
  end_.enforce(now_ + seconds{25}, seconds{5});
  EXPECT_FALSE(end_.begun());
}

}  // namespace
}  // namespace holdfast::cli
