// The contract of ZookeeperPort: watches.

#include "tests/ports/zookeeper_bed.h"

namespace holdfast::ports {
namespace {

using namespace zookeeper;
constexpr Watching kYes = Watching::yes;

TEST_P(ZookeeperPortTest, AWatchOfDataIsToldOnce) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "a");
  create(talk, "fence");
  ask(talk, Read{at("a"), kYes});
  ask(talk, Read{at("fence"), kYes});
  ask(other, Write{at("a"), "1"});
  ask(other, Write{at("a"), "2"});
  ask(other, Erase{at("a")});
  ask(other, Write{at("fence"), "x"});
  EXPECT_EQ(next_change(talk), "data a");
  EXPECT_EQ(next_change(talk), "data fence");
}

TEST_P(ZookeeperPortTest, AWatchOfDataTellsThatTheNodeIsGone) {
  Talk& talk = open();
  create(talk, "a");
  ask(talk, Read{at("a"), kYes});
  ask(open(), Erase{at("a")});
  EXPECT_EQ(next_change(talk), "erased a");
}

TEST_P(ZookeeperPortTest, ReadingWhatIsNotThereWatchesNothing) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "fence");
  EXPECT_EQ(verdict(talk, Read{at("a"), kYes}), Verdict::no_node);
  EXPECT_EQ(verdict(talk, List{at("a"), kYes}), Verdict::no_node);
  ask(talk, Read{at("fence"), kYes});
  create(other, "a");
  ask(other, Erase{at("a")});
  ask(other, Write{at("fence"), "x"});
  EXPECT_EQ(next_change(talk), "data fence");
}

TEST_P(ZookeeperPortTest, AWatchOfWhatIsNotThereTellsThatItIsCreated) {
  Talk& talk = open();
  Talk& other = open();
  EXPECT_EQ(verdict(talk, Exists{at("a"), kYes}), Verdict::no_node);
  create(other, "a");
  EXPECT_EQ(next_change(talk), "created a");
  EXPECT_EQ(verdict(talk, Exists{at("a"), kYes}), Verdict::done);
  ask(other, Write{at("a"), "x"});
  EXPECT_EQ(next_change(talk), "data a");
  ask(talk, Exists{at("a"), kYes});
  ask(other, Erase{at("a")});
  EXPECT_EQ(next_change(talk), "erased a");
}

TEST_P(ZookeeperPortTest, AWatchOfChildrenTellsThatOneCameOrWent) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "p");
  ask(talk, List{at("p"), kYes});
  ask(other, Write{at("p"), "not a child"});
  create(other, "p/a");
  EXPECT_EQ(next_change(talk), "children p");
  ask(talk, List{at("p"), kYes});
  ask(other, Write{at("p/a"), "nor its data"});
  ask(other, Erase{at("p/a")});
  EXPECT_EQ(next_change(talk), "children p");
  ask(talk, List{at("p"), kYes});
  ask(other, Erase{at("p")});
  EXPECT_EQ(next_change(talk), "erased p");
}

TEST_P(ZookeeperPortTest, SeveralWatchesOfOneKindAreToldOnce) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "a");
  create(talk, "fence");
  ask(talk, Read{at("a"), kYes});
  ask(talk, Read{at("a"), kYes});
  ask(talk, Exists{at("a"), kYes});
  ask(talk, List{at("a"), kYes});
  ask(talk, Read{at("fence"), kYes});
  ask(other, Erase{at("a")});
  ask(other, Write{at("fence"), "x"});
  EXPECT_EQ(next_change(talk), "erased a");
  EXPECT_EQ(next_change(talk), "data fence");
}

TEST_P(ZookeeperPortTest, OnesOwnChangesAreToldToo) {
  Talk& talk = open();
  create(talk, "a");
  send(talk, {Read{at("a"), kYes}, Write{at("a"), "x"}, Exists{at("a")}});
  EXPECT_EQ(next_answer(talk)->data, "");
  EXPECT_EQ(next_change(talk), "data a");
  EXPECT_EQ(next_answer(talk)->stat.version, 1);
  EXPECT_EQ(next_answer(talk)->stat.version, 1);
}

TEST_P(ZookeeperPortTest, AWatchIsToldBeforeAnAnswerThatSawTheChange) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "a", "0");
  for (int round = 1; round <= 20; ++round) {
    const std::string data = std::to_string(round);
    ask(talk, Read{at("a"), kYes});
    send(other, {Write{at("a"), data}});
    // Whatever comes first, nothing that shows the change may precede the event.
    for (bool told = false; !told;) {
      send(talk, {Read{at("a")}});
      Talk::Word word = next(talk);
      if (std::holds_alternative<SessionEvent>(word)) {
        told = true;
        EXPECT_EQ(next_answer(talk)->data, data);
      } else {
        EXPECT_NE(std::get<Result<Answer>>(word)->data, data) << round;
      }
    }
    EXPECT_EQ(next_answer(other)->verdict, Verdict::done);
  }
}

TEST_P(ZookeeperPortTest, ForgottenWatchesAreNotTold) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "a");
  create(talk, "fence");
  ask(talk, Read{at("a"), kYes});
  ask(talk, List{at("a"), kYes});
  EXPECT_EQ(verdict(talk, Exists{at("b"), kYes}), Verdict::no_node);
  ask(talk, Read{at("fence"), kYes});
  bed_->on_env([&] {
    for (const char* name : {"a", "b", "never"}) talk.session->unwatch(at(name));
  });
  ask(talk, Sync{});
  ask(other, Write{at("a"), "x"});
  create(other, "a/child");
  create(other, "b");
  ask(other, Write{at("fence"), "x"});
  EXPECT_EQ(next_change(talk), "data fence");
  ask(talk, Read{at("a"), kYes});
  ask(other, Write{at("a"), "y"});
  EXPECT_EQ(next_change(talk), "data a");
}

TEST_P(ZookeeperPortTest, AWatchIsForgottenWhileItIsAskedFor) {
  Talk& talk = open();
  Talk& other = open();
  create(talk, "a");
  create(talk, "fence");
  ask(talk, Read{at("fence"), kYes});
  send(talk, {Read{at("a"), kYes}});
  bed_->on_env([&] { talk.session->unwatch(at("a")); });
  EXPECT_EQ(next_answer(talk)->verdict, Verdict::done);
  ask(talk, Sync{});
  ask(other, Write{at("a"), "x"});
  ask(other, Write{at("fence"), "x"});
  EXPECT_EQ(next_change(talk), "data fence");
}

TEST_P(ZookeeperPortTest, WatchesTellWhatTheEndOfASessionErased) {
  Talk& talk = open();
  Talk& owner = open();
  ask(owner, Create{at("e"), "", Create::Kind::ephemeral});
  ask(talk, Sync{});
  EXPECT_EQ(verdict(talk, Read{at("e"), kYes}), Verdict::done);
  close(owner);
  EXPECT_EQ(next_change(talk), "erased e");
}

}  // namespace
}  // namespace holdfast::ports
