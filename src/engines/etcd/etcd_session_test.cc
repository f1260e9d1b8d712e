#include "engines/etcd/etcd_session.h"

#include <gtest/gtest.h>

#include "core/validity.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kBegin{1h};

class EtcdSessionTest : public testing::Test {
 protected:
  std::shared_ptr<Session> session_{std::make_shared<Session>(LeaseId{7}, 9s, kBegin)};
};

TEST_F(EtcdSessionTest, CountsFromTheLastRequestThatWasAcknowledged) {
  EXPECT_EQ(session_->valid_until(), core::deadline_of(kBegin, 9s));
  session_->confirm(kBegin + 3s);
  session_->confirm(kBegin + 1s);
  EXPECT_EQ(session_->confirmed_at(), kBegin + 3s);
  EXPECT_EQ(session_->valid_until(), core::deadline_of(kBegin + 3s, 9s));
}

TEST_F(EtcdSessionTest, ItsLocksComeFirstToKeepItAlive) {
  EXPECT_GT(session_->due_at(), kBegin + 3s);
  EXPECT_LT(session_->due_at(), kBegin + 6s);
}

TEST_F(EtcdSessionTest, IsNotReliedOnWhenItsRenewalIsOverdue) {
  EXPECT_TRUE(session_->is_fresh(kBegin + 6s - 1ms));
  EXPECT_FALSE(session_->is_fresh(kBegin + 6s));
  session_->confirm(kBegin + 5s);
  EXPECT_TRUE(session_->is_fresh(kBegin + 6s));
  session_->end_as(LossReason::revoked);
  EXPECT_FALSE(session_->is_fresh(kBegin + 6s));
}

TEST_F(EtcdSessionTest, AnEndBeforeItsTimeWasNotItsOwn) {
  EXPECT_EQ(session_->explain_end(kBegin + 8s), LossReason::revoked);
  EXPECT_EQ(session_->explain_end(kBegin + 9s), LossReason::expired);
}

TEST_F(EtcdSessionTest, TheFirstReasonStands) {
  session_->end_as(LossReason::rolled_back);
  session_->end_as(LossReason::expired);
  EXPECT_EQ(session_->end(), LossReason::rolled_back);
}

TEST_F(EtcdSessionTest, CountsItsUsers) {
  SessionUse one{session_, kBegin};
  {
    SessionUse other{session_, kBegin + 1s};
    EXPECT_EQ(session_->users(), 2U);
    one = std::move(other);
    EXPECT_EQ(session_->users(), 1U);
  }
  session_->note_use(kBegin + 5s);
  EXPECT_EQ(session_->used_at(), kBegin + 5s);
  one = {};
  session_->note_use(kBegin + 6s);
  EXPECT_EQ(session_->users(), 0U);
  EXPECT_EQ(session_->used_at(), kBegin + 5s);
}

}  // namespace
}  // namespace holdfast::etcd
