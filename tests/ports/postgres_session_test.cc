// The contract of PostgresPort: statements on the pool, and sessions.

#include "tests/ports/postgres_bed.h"

namespace holdfast::ports {
namespace {

using namespace postgres;
using Kind = SessionEvent::Kind;

TEST_P(PostgresPortTest, AnswersWithRowsOfText) {
  EXPECT_EQ(talks_.ask(kConfirmStatement, {at("a"), "alice"}),
            (Rows{{std::nullopt, std::nullopt}}));
  EXPECT_EQ(talks_.ask(kInspectStatement, {at("a")}), Rows{});
}

TEST_P(PostgresPortTest, TellsWhatTheServerRefused) {
  const auto answer = talks_.try_ask(kExtendStatement, {at("a"), "alice", "soon"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(std::get<Refusal>(*answer).sqlstate, "22P02");
  EXPECT_EQ(take({.owner = "alice"}), take({.owner = "alice"})) << "the next one runs";
}

TEST_P(PostgresPortTest, KnowsThatThereIsNoPoolerOnceSomethingWasAnswered) {
  talks_.ask(kInspectStatement, {at("a")});
  bed_->on_env([&] { EXPECT_EQ(bed_->port().direct(), PostgresPort::Direct::yes); });
}

TEST_P(PostgresPortTest, ASessionHasABackendOfItsOwn) {
  PostgresTalk& one = talks_.open();
  PostgresTalk& other = talks_.open();
  bed_->on_env([&] {
    EXPECT_NE(one.session->backend(), 0);
    EXPECT_NE(one.session->backend(), other.session->backend());
  });
}

TEST_P(PostgresPortTest, StatementsOfASessionRunInTheirOrder) {
  PostgresTalk& talk = talks_.open();
  constexpr int kStatements = 50;
  for (int i = 0; i < kStatements; ++i) {
    const std::string owner = std::to_string(i);
    talks_.send(
        talk, kAcquireStatement, {at("b"), owner, "60000", "", "s", "0", std::nullopt, "f"});
  }
  std::uint64_t last = 0;
  for (int i = 0; i < kStatements; ++i) {
    const auto answer = talks_.next_answer(talk);
    ASSERT_TRUE(answer.has_value());
    const std::uint64_t token = std::stoull(std::get<Rows>(*answer).at(0).at(1).value_or("0"));
    EXPECT_GT(token, last);
    last = token;
  }
}

TEST_P(PostgresPortTest, StatementsWaitForTheConnection) {
  PostgresTalk& talk = talks_.begin();
  talks_.send(talk, kInspectStatement, {at("a")});
  EXPECT_EQ(talks_.next_event(talk).kind, Kind::connected);
  EXPECT_EQ(talks_.next_answer(talk).value(), Answer{Rows{}});
}

TEST_P(PostgresPortTest, ANumberIsOneSessionsAtATime) {
  PostgresTalk& one = talks_.attend();
  PostgresTalk& other = talks_.open();
  talks_.send(other, kAttendStatement, {one.number});
  EXPECT_EQ(talks_.next_answer(other).value(), (Answer{Rows{{"f"}}}));
  talks_.leave(one);
}

TEST_P(PostgresPortTest, ASessionIsToldThatItsBackendEnded) {
  PostgresTalk& talk = talks_.open();
  std::int32_t backend = 0;
  bed_->on_env([&] { backend = talk.session->backend(); });
  bed_->terminate(backend);
  const SessionEvent event = talks_.next_event(talk);
  EXPECT_EQ(event.kind, Kind::ended);
  EXPECT_TRUE(event.error.has_value());
  talks_.send(talk, kInspectStatement, {at("a")});
  EXPECT_EQ(talks_.next_answer(talk).error().code, Errc::unavailable);
}

TEST_P(PostgresPortTest, ASessionThatIsGoneDoesNotCallBack) {
  PostgresTalk& talk = talks_.open();
  bed_->on_env([&] {
    talk.session->send(share({.statement = &kInspectStatement, .args = {at("a")}}),
                       bed_->env().now() + kPostgresBound,
                       [](const Result<Answer>&) { ADD_FAILURE() << "called back"; });
    talk.session.reset();
  });
  talks_.ask(kInspectStatement, {at("a")});
  bed_->on_env([&] { EXPECT_TRUE(talk.said->empty()); });
}

}  // namespace
}  // namespace holdfast::ports
