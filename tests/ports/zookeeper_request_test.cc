// The contract of ZookeeperPort: requests and their verdicts.

#include <gmock/gmock.h>

#include "tests/ports/zookeeper_bed.h"

namespace holdfast::ports {
namespace {

using namespace zookeeper;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Kind = Create::Kind;

std::vector<Verdict> verdicts(const Answer& multi) {
  std::vector<Verdict> all;
  for (const Answer& step : multi.steps) all.push_back(step.verdict);
  return all;
}

TEST_P(ZookeeperPortTest, ANodeIsCreatedReadWrittenAndErased) {
  Talk& talk = open();
  const std::string data{"a\0b", 3};
  const Answer created = create(talk, "a", data);
  EXPECT_EQ(created.path, at("a"));
  EXPECT_GT(created.stat.created, 0);
  EXPECT_EQ(created.stat.modified, created.stat.created);
  EXPECT_EQ(created.stat.version, 0);
  EXPECT_EQ(created.stat.owner, SessionId{});
  const Answer read = ask(talk, Read{at("a")});
  EXPECT_EQ(read.data, data);
  EXPECT_EQ(read.stat.created, created.stat.created);
  EXPECT_EQ(read.stat.data_size, 3);
  const Answer written = ask(talk, Write{at("a"), "new", 0});
  EXPECT_EQ(written.verdict, Verdict::done);
  EXPECT_EQ(written.stat.version, 1);
  EXPECT_EQ(written.stat.created, created.stat.created);
  EXPECT_GT(written.stat.modified, created.stat.created);
  EXPECT_EQ(ask(talk, Read{at("a")}).data, "new");
  EXPECT_EQ(verdict(talk, Write{at("a"), ""}), Verdict::done);
  EXPECT_EQ(ask(talk, Read{at("a")}).data, "");
  EXPECT_EQ(verdict(talk, Erase{at("a"), 2}), Verdict::done);
  EXPECT_EQ(verdict(talk, Exists{at("a")}), Verdict::no_node);
}

TEST_P(ZookeeperPortTest, WhatCannotBeDoneIsAVerdict) {
  Talk& talk = open();
  create(talk, "a");
  create(talk, "a/b");
  EXPECT_EQ(verdict(talk, Create{at("a")}), Verdict::node_exists);
  EXPECT_EQ(verdict(talk, Create{at("x/y")}), Verdict::no_node);
  EXPECT_EQ(verdict(talk, Write{at("a"), "", 7}), Verdict::bad_version);
  EXPECT_EQ(verdict(talk, Write{at("x"), ""}), Verdict::no_node);
  EXPECT_EQ(verdict(talk, Erase{at("a")}), Verdict::not_empty);
  EXPECT_EQ(verdict(talk, Erase{at("a/b"), 7}), Verdict::bad_version);
  EXPECT_EQ(verdict(talk, Erase{at("x")}), Verdict::no_node);
  EXPECT_EQ(verdict(talk, Read{at("x")}), Verdict::no_node);
  EXPECT_EQ(verdict(talk, List{at("x")}), Verdict::no_node);
  EXPECT_EQ(verdict(talk, Create{at("e"), "", Kind::ephemeral}), Verdict::done);
  EXPECT_EQ(verdict(talk, Create{at("e/f")}), Verdict::no_children_allowed);
}

TEST_P(ZookeeperPortTest, ChangesAreNumberedInTheirOrder) {
  Talk& one = open();
  Talk& other = open();
  const Zxid first = create(one, "a").stat.created;
  const Zxid second = create(other, "b").stat.created;
  const Zxid third = ask(one, Write{at("b"), "x"}).stat.modified;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST_P(ZookeeperPortTest, TheServersTellByTheirClockWhenDataWasWritten) {
  using namespace std::chrono_literals;
  Talk& talk = open();
  const Millis created = create(talk, "a").stat.modified_at;
  // Some day after the year 2000.
  EXPECT_GT(created, 24h * 365 * 30);
  const TimePoint before = bed_->env().now();
  ASSERT_TRUE(bed_->go_on_until([&] { return bed_->env().now() - before > 50ms; }));
  const Millis written = ask(talk, Write{at("a"), "x"}).stat.modified_at;
  EXPECT_GE(written - created, 40ms);
  EXPECT_EQ(ask(talk, Exists{at("a")}).stat.modified_at, written);
}

TEST_P(ZookeeperPortTest, SequentialNodesAreNumberedByTheirParent) {
  Talk& talk = open();
  create(talk, "p");
  const Create next{at("p/n-"), "", Kind::persistent_sequential};
  EXPECT_EQ(ask(talk, next).path, at("p/n-0000000000"));
  EXPECT_EQ(ask(talk, Create{at("p/other-"), "", Kind::ephemeral_sequential}).path,
            at("p/other-0000000001"));
  EXPECT_EQ(verdict(talk, Erase{at("p/other-0000000001")}), Verdict::done);
  EXPECT_EQ(ask(talk, next).path, at("p/n-0000000002"));
  EXPECT_EQ(verdict(talk, Create{at("p/plain")}), Verdict::done);
  EXPECT_EQ(ask(talk, next).path, at("p/n-0000000004"));
  const NodeStat parent = ask(talk, Exists{at("p")}).stat;
  EXPECT_EQ(parent.children, 4);
  EXPECT_EQ(parent.children_version, 6);
  EXPECT_EQ(parent.version, 0);
}

TEST_P(ZookeeperPortTest, ChildrenAreListed) {
  Talk& talk = open();
  EXPECT_THAT(ask(talk, List{at("")}).children, IsEmpty());
  create(talk, "a");
  create(talk, "b");
  const Zxid last = create(talk, "a/c").stat.created;
  const Answer listed = ask(talk, List{at("")});
  EXPECT_THAT(listed.children, UnorderedElementsAre("a", "b"));
  EXPECT_EQ(listed.stat.children, 2);
  EXPECT_LT(listed.stat.children_modified, last);
  EXPECT_EQ(ask(talk, List{at("a")}).stat.children_modified, last);
}

TEST_P(ZookeeperPortTest, EphemeralNodesBelongToTheirSession) {
  Talk& talk = open();
  const Answer created = ask(talk, Create{at("e"), "x", Kind::ephemeral});
  EXPECT_EQ(created.stat.owner, talk.key.id);
  EXPECT_EQ(ask(open(), Read{at("e")}).stat.owner, talk.key.id);
}

TEST_P(ZookeeperPortTest, SeveralStepsAreOneChange) {
  Talk& talk = open();
  create(talk, "old");
  create(talk, "gone");
  const Answer done = ask(talk,
                          Multi{{Check{at("old"), 0},
                                 Create{at("new-"), "1", Kind::ephemeral_sequential},
                                 Write{at("old"), "2", 0},
                                 Erase{at("gone")}}});
  EXPECT_EQ(done.verdict, Verdict::done);
  EXPECT_THAT(verdicts(done),
              ElementsAre(Verdict::done, Verdict::done, Verdict::done, Verdict::done));
  EXPECT_EQ(done.steps[1].path, at("new-0000000002"));
  EXPECT_EQ(done.steps[2].stat.version, 1);
  const Answer fresh = ask(talk, Read{at("new-0000000002")});
  EXPECT_EQ(fresh.data, "1");
  EXPECT_EQ(fresh.stat.owner, talk.key.id);
  EXPECT_EQ(fresh.stat.created, done.steps[2].stat.modified);
  EXPECT_EQ(verdict(talk, Exists{at("gone")}), Verdict::no_node);
}

TEST_P(ZookeeperPortTest, SeveralStepsAreDoneAllOrNone) {
  Talk& talk = open();
  create(talk, "a", "before");
  const Answer failed = ask(
      talk, Multi{{Create{at("b")}, Write{at("a"), "after"}, Check{at("a"), 7}, Erase{at("a")}}});
  EXPECT_EQ(failed.verdict, Verdict::bad_version);
  EXPECT_THAT(
      verdicts(failed),
      ElementsAre(Verdict::not_done, Verdict::not_done, Verdict::bad_version, Verdict::not_done));
  EXPECT_EQ(ask(talk, Read{at("a")}).data, "before");
  EXPECT_EQ(verdict(talk, Exists{at("b")}), Verdict::no_node);
  EXPECT_EQ(ask(talk, Multi{{Check{at("x")}}}).verdict, Verdict::no_node);
  EXPECT_EQ(ask(talk, Multi{{Create{at("a")}, Create{at("b")}}}).verdict, Verdict::node_exists);
  EXPECT_EQ(ask(talk, Multi{{Create{at("b")}, Erase{at("")}}}).verdict, Verdict::not_empty);
}

TEST_P(ZookeeperPortTest, AStepSeesThoseBefore) {
  Talk& talk = open();
  const Answer done = ask(
      talk, Multi{{Create{at("a")}, Create{at("a/b")}, Write{at("a"), "x", 0}, Check{at("a"), 1}}});
  EXPECT_EQ(done.verdict, Verdict::done);
  EXPECT_EQ(ask(talk, Read{at("a")}).data, "x");
}

TEST_P(ZookeeperPortTest, RequestsSentAtOnceRunInTheirOrder) {
  Talk& talk = open();
  send(talk,
       {Create{at("n-"), "", Kind::ephemeral_sequential},
        List{at("")},
        Write{at("n-0000000000"), "x"},
        Read{at("n-0000000000")},
        Sync{at("")},
        Erase{at("n-0000000000")},
        Exists{at("n-0000000000")}});
  EXPECT_EQ(next_answer(talk)->path, at("n-0000000000"));
  EXPECT_THAT(next_answer(talk)->children, ElementsAre("n-0000000000"));
  EXPECT_EQ(next_answer(talk)->stat.version, 1);
  EXPECT_EQ(next_answer(talk)->data, "x");
  EXPECT_EQ(next_answer(talk)->verdict, Verdict::done);
  EXPECT_EQ(next_answer(talk)->verdict, Verdict::done);
  EXPECT_EQ(next_answer(talk)->verdict, Verdict::no_node);
}

TEST_P(ZookeeperPortTest, ASyncShowsWhatOthersDid) {
  Talk& one = open();
  Talk& other = open();
  for (int round = 0; round < 20; ++round) {
    const std::string name = "n" + std::to_string(round);
    create(one, name);
    send(other, {Sync{}, Exists{at(name)}});
    EXPECT_EQ(next_answer(other)->verdict, Verdict::done);
    EXPECT_EQ(next_answer(other)->verdict, Verdict::done) << round;
  }
}

TEST_P(ZookeeperPortTest, WhatIsNoPathIsRefusedAndHarmsNobody) {
  Talk& talk = open();
  for (const char* path : {"", "a", "/a/", "/a//b", "/a/../b", "/a\x01"}) {
    const auto refused = try_ask(talk, Create{path});
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, Errc::invalid_argument) << path;
  }
  EXPECT_EQ(try_ask(talk, Multi{{Check{at("")}, Erase{"a"}}}).error().code, Errc::invalid_argument);
  create(talk, "a");
}

TEST_P(ZookeeperPortTest, WhatIsTooLargeIsRefusedAndHarmsNobody) {
  Talk& talk = open();
  create(talk, "a");
  const auto refused = try_ask(talk, Write{at("a"), std::string(2'000'000, 'x')});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(verdict(talk, Write{at("a"), large}), Verdict::done);
  EXPECT_EQ(ask(talk, Read{at("a")}).data, large);
}

TEST_P(ZookeeperPortTest, AContainerGoesAfterItsLastChild) {
  Talk& talk = open();
  EXPECT_EQ(verdict(talk, Create{at("c"), "x", Kind::container}), Verdict::done);
  EXPECT_EQ(verdict(talk, Create{at("c"), "x", Kind::container}), Verdict::node_exists);
  EXPECT_EQ(ask(talk, Read{at("c")}).data, "x");
  EXPECT_EQ(verdict(talk, Create{at("c/e"), "", Kind::ephemeral}), Verdict::done);
  EXPECT_EQ(verdict(talk, Erase{at("c/e")}), Verdict::done);
  EXPECT_TRUE(vanishes(talk, "c"));
  EXPECT_EQ(verdict(talk, Create{at("c/e"), "", Kind::ephemeral}), Verdict::no_node);
}

}  // namespace
}  // namespace holdfast::ports
