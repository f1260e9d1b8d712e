#include "sim/postgres/sim_postgres_port.h"

#include <gtest/gtest.h>

#include "engines/postgres/lease_statements.h"
#include "sim/postgres/postgres_bed.h"

namespace holdfast::sim {
namespace {

using namespace postgres;
using namespace std::chrono_literals;
using Kind = SessionEvent::Kind;

class SimPostgresPortTest : public testing::Test {
 protected:
  using Events = std::vector<SessionEvent>;

  std::unique_ptr<PostgresSession> open(PostgresBed::Process& process,
                                        const std::shared_ptr<Events>& events) {
    auto session = process.port->open(
        process.env.now() + 5s, [events](const SessionEvent& event) { events->push_back(event); });
    bed_.scheduler.advance(1s);
    return session;
  }

  /// The session's own number from now on.
  void attend(PostgresBed::Process& process, PostgresSession& session, const char* number) {
    process.env.post([&, number] {
      session.send(share({.statement = &kAttendStatement, .args = {number}}),
                   process.env.now() + 5s,
                   [](Result<Answer>) {});
    });
    bed_.scheduler.advance(1s);
  }

  std::string acquire(const char* owner, const Value& session = {}) {
    const auto answer =
        bed_.ask(alice_, kAcquireStatement, {"a", owner, "60000", "note", "x", "0", session, "t"});
    return answer ? *std::get<Rows>(*answer).at(0).at(0) : "no answer";
  }

  bool release(const char* owner) {
    const auto answer = bed_.ask(alice_, kReleaseStatement, {"a", owner, std::nullopt});
    return answer && std::get<Rows>(*answer).at(0).at(0) == "t";
  }

  std::string waiter() {
    const auto answer = bed_.ask(alice_, kInspectStatement, {"a"});
    const Rows rows = std::get<Rows>(answer.value());
    return rows.back().at(0) == "waiter" ? *rows.back().at(1) : "";
  }

  PostgresBed bed_;
  PostgresBed::Process& alice_{bed_.start()};
  PostgresBed::Process& bob_{bed_.start()};
  std::shared_ptr<Events> events_{std::make_shared<Events>()};
};

TEST_F(SimPostgresPortTest, KnowsWhetherThereIsAPoolerOnceSomethingWasAnswered) {
  EXPECT_EQ(alice_.port->direct(), PostgresPort::Direct::unknown);
  acquire("one");
  EXPECT_EQ(alice_.port->direct(), PostgresPort::Direct::yes);
  PostgresBed pooled{Pooler::yes};
  auto& carol = pooled.start();
  pooled.ask(carol, kInspectStatement, {"a"}).value();
  EXPECT_EQ(carol.port->direct(), PostgresPort::Direct::no);
}

TEST_F(SimPostgresPortTest, APoolerLetsNoSessionThrough) {
  PostgresBed pooled{Pooler::yes};
  auto& carol = pooled.start();
  const auto session = carol.port->open(
      carol.env.now() + 5s, [this](const SessionEvent& event) { events_->push_back(event); });
  pooled.scheduler.advance(1s);
  ASSERT_EQ(events_->size(), 1U);
  EXPECT_EQ(events_->front().kind, Kind::ended);
}

TEST_F(SimPostgresPortTest, AServerThatIsDownRefuses) {
  bed_.node.stop();
  const auto answer = bed_.ask(alice_, kInspectStatement, {"a"});
  EXPECT_EQ(answer.error().code, Errc::unavailable);
}

TEST_F(SimPostgresPortTest, AConnectionThatBrokeMayHaveCarriedTheStatement) {
  acquire("one");
  bed_.node.stop();
  bed_.node.start();
  EXPECT_EQ(bed_.ask(alice_, kReleaseStatement, {"a", "one", std::nullopt}).error().code,
            Errc::unknown_outcome);
  EXPECT_TRUE(release("one")) << "it did not run, and is sent over another connection now";
}

TEST_F(SimPostgresPortTest, WhoIsCutOffGetsNoAnswer) {
  bed_.cut_off(alice_);
  EXPECT_EQ(bed_.ask(alice_, kInspectStatement, {"a"}).error().code, Errc::unknown_outcome);
}

TEST_F(SimPostgresPortTest, WhoWaitsIsToldThatItWasGivenTheLock) {
  const auto session = open(bob_, events_);
  attend(bob_, *session, "7");
  acquire("one");
  EXPECT_EQ(acquire("two", "7"), "queued");
  EXPECT_TRUE(release("one"));
  bed_.scheduler.advance(1s);
  ASSERT_EQ(events_->size(), 2U);
  EXPECT_EQ(events_->at(1).kind, Kind::notified);
  EXPECT_EQ(events_->at(1).channel, "holdfast_7");
  EXPECT_TRUE(events_->at(1).payload.starts_with("granted two 1")) << events_->at(1).payload;
}

TEST_F(SimPostgresPortTest, WhoWaitsIsThereAsLongAsItsSession) {
  auto session = open(bob_, events_);
  attend(bob_, *session, "7");
  acquire("one");
  acquire("two", "7");
  EXPECT_EQ(waiter(), "two");
  session.reset();
  bed_.scheduler.advance(1s);
  EXPECT_EQ(waiter(), "");
}

TEST_F(SimPostgresPortTest, BothEndsNoticeThatTheOtherDoesNotAnswer) {
  const auto session = open(bob_, events_);
  attend(bob_, *session, "7");
  acquire("one");
  acquire("two", "7");
  bed_.cut_off(bob_);
  bed_.scheduler.advance(10s);
  EXPECT_EQ(waiter(), "");
  EXPECT_EQ(events_->back().kind, Kind::ended);
}

TEST_F(SimPostgresPortTest, APausedProcessIsStillThere) {
  const auto session = open(bob_, events_);
  attend(bob_, *session, "7");
  acquire("one");
  acquire("two", "7");
  bob_.env.pause();
  bed_.scheduler.advance(20s);
  EXPECT_EQ(waiter(), "two");
}

TEST_F(SimPostgresPortTest, ARestartEndsSessionsAndKeepsWhatWasAnswered) {
  const auto session = open(bob_, events_);
  acquire("one");
  bed_.node.stop();
  bed_.node.start();
  bed_.scheduler.advance(1s);
  EXPECT_EQ(events_->back().kind, Kind::ended);
  EXPECT_EQ(session->backend(), 0);
  static_cast<void>(bed_.ask(alice_, kInspectStatement, {"a"}));
  EXPECT_EQ(acquire("two"), "queued");
}

TEST_F(SimPostgresPortTest, AStatementThatIsNotAnsweredInTimeEndsItsSession) {
  const auto session = open(bob_, events_);
  bed_.cut_off(bob_);
  std::optional<Errc> code;
  bob_.env.post([&] {
    session->send(share({.statement = &kInspectStatement, .args = {"a"}}),
                  bob_.env.now() + 100ms,
                  [&](const Result<Answer>& answer) { code = answer.error().code; });
  });
  bed_.scheduler.advance(200ms);
  EXPECT_EQ(code, Errc::unknown_outcome);
  EXPECT_EQ(events_->back().kind, Kind::ended);
}

}  // namespace
}  // namespace holdfast::sim
