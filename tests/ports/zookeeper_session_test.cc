// The contract of ZookeeperPort: sessions.

#include "tests/ports/zookeeper_bed.h"

namespace holdfast::ports {
namespace {

using namespace zookeeper;
using Kind = SessionEvent::Kind;

constexpr std::size_t kPasswordSize = 16;

TEST_P(ZookeeperPortTest, ASessionIsConnectedWithItsKey) {
  const TimePoint before = bed_->env().now();
  Talk& talk = begin({.timeout = Millis{10'000}});
  const SessionEvent event = next_event(talk);
  EXPECT_EQ(event.kind, Kind::connected);
  EXPECT_NE(event.key.id, SessionId{});
  EXPECT_EQ(event.key.password.size(), kPasswordSize);
  EXPECT_EQ(event.timeout, Millis{10'000});
  EXPECT_GE(event.asked_at, before);
  EXPECT_LE(event.asked_at, bed_->env().now());
  EXPECT_NE(open().key.id, event.key.id);
}

TEST_P(ZookeeperPortTest, ServersAdjustTheTimeoutToTheirRange) {
  EXPECT_EQ(next_event(begin({.timeout = Millis{1}})).timeout, bed_->least_timeout());
  EXPECT_EQ(next_event(begin({.timeout = Millis{86'400'000}})).timeout, bed_->most_timeout());
}

TEST_P(ZookeeperPortTest, RequestsWaitForTheConnection) {
  Talk& talk = begin({.timeout = Millis{10'000}});
  send(talk, {Create{at("a")}, Read{at("a")}});
  EXPECT_EQ(next_event(talk).kind, Kind::connected);
  EXPECT_EQ(next_answer(talk)->verdict, Verdict::done);
  EXPECT_EQ(next_answer(talk)->verdict, Verdict::done);
}

TEST_P(ZookeeperPortTest, ClosingASessionErasesItsNodes) {
  Talk& talk = open(bed_->most_timeout());
  Talk& other = open();
  ask(talk, Create{at("e"), "", Create::Kind::ephemeral});
  create(talk, "persistent");
  close(talk);
  // Long before it would end by itself.
  EXPECT_TRUE(vanishes(other, "e"));
  EXPECT_EQ(verdict(other, Exists{at("persistent")}), Verdict::done);
}

TEST_P(ZookeeperPortTest, ClosingLetsWhatWasSentBeforeRun) {
  Talk& talk = open(bed_->most_timeout());
  Talk& other = open();
  bed_->on_env([&] {
    talk.session->send(
        share(Create{at("a")}), bed_->env().now() + kZookeeperBound, [](const Result<Answer>&) {});
    talk.session->close();
    talk.session.reset();
  });
  EXPECT_TRUE(bed_->go_on_until([&, asked = false, since = other.said->size()]() mutable {
    // Asked for again and again until it is there.
    if (asked && other.said->size() > since) {
      const auto& word = std::get<Result<Answer>>(other.said->back());
      if (word && word->verdict == Verdict::done) return true;
      asked = false;
    }
    if (!asked) {
      since = other.said->size();
      other.session->send(
          share(Exists{at("a")}),
          bed_->env().now() + kZookeeperBound,
          [said = other.said](Result<Answer> answer) { said->push_back(std::move(answer)); });
      asked = true;
    }
    return false;
  }));
}

TEST_P(ZookeeperPortTest, ASessionThatIsLeftLivesOnAndCanBeResumed) {
  Talk& first = open();
  ask(first, Create{at("e"), "", Create::Kind::ephemeral});
  const SessionKey key = first.key;
  leave(first);
  Talk& second = begin({.timeout = Millis{20'000}, .resume = key});
  const SessionEvent event = next_event(second);
  ASSERT_EQ(event.kind, Kind::connected);
  EXPECT_EQ(event.key.id, key.id);
  EXPECT_EQ(ask(second, Read{at("e")}).stat.owner, key.id);
  EXPECT_EQ(verdict(second, Erase{at("e")}), Verdict::done);
}

TEST_P(ZookeeperPortTest, ASessionThatIsLeftEndsByItsTimeout) {
  Talk& other = open();
  Talk& talk = open(bed_->least_timeout());
  const SessionKey key = talk.key;
  ask(talk, Create{at("e"), "", Create::Kind::ephemeral});
  leave(talk);
  EXPECT_TRUE(vanishes(other, "e"));
  Talk& late = begin({.timeout = bed_->least_timeout(), .resume = key});
  send(late, {Read{at("")}});
  // The request may have to wait for the connection, and then has not run.
  bool is_over = false;
  bool is_refused = false;
  while (!(is_over && is_refused) && !HasFailure()) {
    const Talk::Word word = next(late);
    if (const auto* const event = std::get_if<SessionEvent>(&word)) {
      EXPECT_EQ(event->kind, Kind::expired);
      is_over = true;
    } else {
      const auto& answer = std::get<Result<Answer>>(word);
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().code, Errc::lost);
      is_refused = true;
    }
  }
  const auto after = try_ask(late, Read{at("")});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, Errc::lost);
}

TEST_P(ZookeeperPortTest, ASessionLivesWhileItIsKept) {
  Talk& other = open();
  Talk& talk = open(bed_->least_timeout());
  ask(talk, Create{at("e"), "", Create::Kind::ephemeral});
  const TimePoint later = bed_->env().now() + 4 * bed_->least_timeout();
  EXPECT_TRUE(bed_->go_on_until([&] { return bed_->env().now() >= later; }));
  // On a machine that stood still so long the session may be over, and is then told so.
  const bool is_over = verdict(other, Exists{at("e")}) == Verdict::no_node;
  bool was_told = false;
  bed_->on_env([&] { was_told = !talk.said->empty(); });
  EXPECT_TRUE(!is_over || was_told);
}

TEST_P(ZookeeperPortTest, AWrongPasswordResumesNothing) {
  Talk& talk = open();
  ask(talk, Create{at("e"), "", Create::Kind::ephemeral});
  SessionKey key = talk.key;
  key.password[0] = static_cast<char>(key.password[0] ^ 1);
  Talk& resumed = begin({.timeout = Millis{10'000}, .resume = key});
  SessionEvent event = next_event(resumed);
  // The server hangs up as soon as it has said so, which may be noticed first: it is asked again.
  while (event.kind == Kind::disconnected) event = next_event(resumed);
  EXPECT_EQ(event.kind, Kind::expired);
  EXPECT_EQ(verdict(open(), Exists{at("e")}), Verdict::done);
}

}  // namespace
}  // namespace holdfast::ports
