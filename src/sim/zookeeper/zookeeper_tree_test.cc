#include "sim/zookeeper/zookeeper_tree.h"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::sim {
namespace {

using namespace zookeeper;
using What = SessionEvent::Change;
using Changes = std::vector<ZookeeperTree::Change>;
using Names = std::vector<std::string>;

constexpr SessionId kAlice{1};
constexpr SessionId kBob{2};

class ZookeeperTreeTest : public testing::Test {
 protected:
  Answer apply(const Request& request, SessionId by = kAlice) {
    ZookeeperTree::Outcome outcome = tree_.apply(request, by, ++zxid_);
    changes_ = std::move(outcome.changes);
    return std::move(outcome.answer);
  }

  Answer create(const std::string& path,
                Create::Kind kind = Create::Kind::persistent,
                SessionId by = kAlice) {
    return apply(Create{.path = path, .kind = kind}, by);
  }

  Names children(const std::string& path) { return tree_.look(List{.path = path}).children; }

  ZookeeperTree tree_;
  Zxid zxid_{0};
  Changes changes_;
};

TEST_F(ZookeeperTreeTest, ANodeShowsWhenItsDataWasWritten) {
  using namespace std::chrono_literals;
  const Answer created = tree_.apply(Create{.path = "/a"}, kAlice, 1, 5s).answer;
  EXPECT_EQ(created.stat.modified_at, 5s);
  tree_.apply(Create{.path = "/a/b"}, kAlice, 2, 6s);
  EXPECT_EQ(tree_.look(Exists{.path = "/a"}).stat.modified_at, 5s);
  tree_.apply(Write{.path = "/a"}, kAlice, 3, 7s);
  EXPECT_EQ(tree_.look(Exists{.path = "/a"}).stat.modified_at, 7s);
}

TEST_F(ZookeeperTreeTest, CreatesUnderAParentThatIsThere) {
  EXPECT_EQ(create("/a/b").verdict, Verdict::no_node);
  const Answer made = create("/a");
  EXPECT_EQ(made.verdict, Verdict::done);
  EXPECT_EQ(made.path, "/a");
  EXPECT_EQ(made.stat.created, 2) << "a request that failed has its number, too";
  EXPECT_EQ(changes_, (Changes{{"/a", What::created}, {"/", What::children}}));
  EXPECT_EQ(create("/a").verdict, Verdict::node_exists);
  EXPECT_TRUE(changes_.empty());
  EXPECT_EQ(create("/a/b").verdict, Verdict::done);
  EXPECT_EQ(children("/a"), Names{"b"});
}

TEST_F(ZookeeperTreeTest, NumbersSequentialChildrenByHowManyWereCreated) {
  create("/a");
  EXPECT_EQ(create("/a/x-", Create::Kind::persistent_sequential).path, "/a/x-0000000000");
  create("/a/plain");
  apply(Erase{.path = "/a/plain"});
  EXPECT_EQ(create("/a/y-", Create::Kind::ephemeral_sequential).path, "/a/y-0000000002");
  const NodeStat stat = tree_.look(Read{.path = "/a"}).stat;
  EXPECT_EQ(stat.children, 2);
  EXPECT_EQ(stat.children_version, 4) << "three came and one went";
  EXPECT_EQ(stat.children_modified, zxid_);
}

TEST_F(ZookeeperTreeTest, StandsStillAtTheLastNumber) {
  create("/a");
  tree_.count_creations("/a", std::numeric_limits<std::int32_t>::max() - 1);
  EXPECT_EQ(create("/a/1-", Create::Kind::persistent_sequential).path, "/a/1-2147483646");
  EXPECT_EQ(create("/a/2-", Create::Kind::persistent_sequential).path, "/a/2-2147483647");
  EXPECT_EQ(create("/a/3-", Create::Kind::persistent_sequential).path, "/a/3-2147483647");
}

TEST_F(ZookeeperTreeTest, WritesNegativeNumbersAsTheServerDoes) {
  create("/a");
  tree_.count_creations("/a", std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(create("/a/1-", Create::Kind::persistent_sequential).path, "/a/1--2147483648");
}

TEST_F(ZookeeperTreeTest, ComparesVersions) {
  create("/a");
  EXPECT_EQ(apply(Write{.path = "/a", .data = "1", .version = 0}).stat.version, 1);
  EXPECT_EQ(changes_, (Changes{{"/a", What::data}}));
  EXPECT_EQ(apply(Write{.path = "/a", .data = "2", .version = 0}).verdict, Verdict::bad_version);
  EXPECT_EQ(tree_.look(Read{.path = "/a"}).data, "1");
  EXPECT_EQ(apply(Erase{.path = "/a", .version = 0}).verdict, Verdict::bad_version);
  EXPECT_EQ(apply(Erase{.path = "/a", .version = 1}).verdict, Verdict::done);
  EXPECT_EQ(changes_, (Changes{{"/a", What::erased}, {"/", What::children}}));
  EXPECT_EQ(apply(Write{.path = "/a"}).verdict, Verdict::no_node);
}

TEST_F(ZookeeperTreeTest, ErasesNoNodeThatHasChildren) {
  create("/a");
  create("/a/b");
  EXPECT_EQ(apply(Erase{.path = "/a"}).verdict, Verdict::not_empty);
}

TEST_F(ZookeeperTreeTest, EphemeralNodesEndWithTheirSessionAndHaveNoChildren) {
  create("/a");
  EXPECT_EQ(create("/a/1", Create::Kind::ephemeral, kAlice).stat.owner, kAlice);
  create("/a/2", Create::Kind::ephemeral, kBob);
  create("/a/3", Create::Kind::ephemeral, kAlice);
  EXPECT_EQ(create("/a/1/x").verdict, Verdict::no_children_allowed);
  const Changes gone = tree_.end_session(kAlice, ++zxid_);
  EXPECT_EQ(gone,
            (Changes{{"/a/1", What::erased},
                     {"/a", What::children},
                     {"/a/3", What::erased},
                     {"/a", What::children}}));
  EXPECT_EQ(children("/a"), Names{"2"});
}

TEST_F(ZookeeperTreeTest, AMultiHappensAsAWholeAndUnderOneNumber) {
  create("/a");
  const Answer done = apply(Multi{{Check{.path = "/a", .version = 0},
                                   Create{.path = "/a/1"},
                                   Write{.path = "/a", .data = "x"}}});
  EXPECT_EQ(done.verdict, Verdict::done);
  EXPECT_EQ(tree_.find("/a/1")->created, done.steps.at(2).stat.modified);
  const Answer failed = apply(
      Multi{{Create{.path = "/a/2"}, Check{.path = "/a", .version = 0}, Erase{.path = "/a/1"}}});
  EXPECT_EQ(failed.verdict, Verdict::bad_version);
  ASSERT_EQ(failed.steps.size(), 3U);
  EXPECT_EQ(failed.steps[0].verdict, Verdict::not_done);
  EXPECT_EQ(failed.steps[1].verdict, Verdict::bad_version);
  EXPECT_EQ(failed.steps[2].verdict, Verdict::not_done);
  EXPECT_TRUE(changes_.empty());
  EXPECT_EQ(children("/a"), Names{"1"});
}

TEST_F(ZookeeperTreeTest, ContainersAreIdleOnceTheirChildrenHaveGone) {
  create("/c", Create::Kind::container);
  EXPECT_TRUE(tree_.idle_containers().empty()) << "it has had no children yet";
  create("/c/1", Create::Kind::ephemeral);
  EXPECT_TRUE(tree_.idle_containers().empty());
  tree_.end_session(kAlice, ++zxid_);
  EXPECT_EQ(tree_.idle_containers(), Names{"/c"});
}

TEST_F(ZookeeperTreeTest, SaysWhatIsNotThere) {
  EXPECT_EQ(tree_.look(Exists{.path = "/a"}).verdict, Verdict::no_node);
  EXPECT_EQ(tree_.look(List{.path = "/a"}).verdict, Verdict::no_node);
  EXPECT_EQ(tree_.find("/a"), nullptr);
}

}  // namespace
}  // namespace holdfast::sim
