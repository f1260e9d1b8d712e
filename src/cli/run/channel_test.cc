#include "cli/run/channel.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = open_channel();
    ASSERT_TRUE(ends.has_value());
    supervisor_ = std::move(ends->first);
    guardian_ = std::move(ends->second);
  }

  UniqueFd supervisor_;
  UniqueFd guardian_;
};

TEST_F(ChannelTest, TheOrderArrivesAsItWasSent) {
  const StartOrder sent{.owners = {"00ff", "01fe"},
                        .terminal = TerminalUse::at_once,
                        .environment = {"A=1", "EMPTY=", "B=x y\nz"}};
  send_start(supervisor_.get(), sent);
  const auto received = receive_start(guardian_.get());
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->owners, sent.owners);
  EXPECT_EQ(received->terminal, sent.terminal);
  EXPECT_EQ(received->environment, sent.environment);
}

TEST_F(ChannelTest, ADeadSupervisorGivesNoOrder) {
  supervisor_.reset();
  EXPECT_FALSE(receive_start(guardian_.get()).has_value());
}

TEST_F(ChannelTest, DoneIsNoOrder) {
  send_done(supervisor_.get());
  EXPECT_FALSE(receive_start(guardian_.get()).has_value());
}

TEST_F(ChannelTest, ReportsOutliveTheGuardian) {
  Report report;
  EXPECT_EQ(receive_report(supervisor_.get(), report), Incoming::nothing);
  send_report(guardian_.get(), {.kind = Report::Kind::exited, .value = 768});
  send_report(guardian_.get(), {.kind = Report::Kind::gone});
  guardian_.reset();
  ASSERT_EQ(receive_report(supervisor_.get(), report), Incoming::message);
  EXPECT_EQ(report.kind, Report::Kind::exited);
  EXPECT_EQ(report.value, 768);
  ASSERT_EQ(receive_report(supervisor_.get(), report), Incoming::message);
  EXPECT_EQ(report.kind, Report::Kind::gone);
  EXPECT_EQ(receive_report(supervisor_.get(), report), Incoming::end);
}

TEST_F(ChannelTest, DoneIsToldFromDeath) {
  EXPECT_EQ(receive_done(guardian_.get()), Incoming::nothing);
  send_done(supervisor_.get());
  supervisor_.reset();
  EXPECT_EQ(receive_done(guardian_.get()), Incoming::message);
  EXPECT_EQ(receive_done(guardian_.get()), Incoming::end);
}

TEST_F(ChannelTest, SendingToTheDeadIsNoError) {
  guardian_.reset();
  send_done(supervisor_.get());
  Report report;
  EXPECT_EQ(receive_report(supervisor_.get(), report), Incoming::end);
}

}  // namespace
}  // namespace holdfast::cli
