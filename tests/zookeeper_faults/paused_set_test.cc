// Holders that are paused past their sessions.

#include <gtest/gtest.h>

#include "tests/campaigns/paused_set.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {
namespace {

using campaigns::Fencing;
using campaigns::run_paused_set;

TEST(PausedSetTest, FencingLosesNothing) {
  ZookeeperEnsemble ensemble;
  const campaigns::PausedSet set{.url = "zookeeper://" + ensemble.endpoints() + "?timeout=5s"};
  EXPECT_GT(run_paused_set(set, Fencing::off).lost, 0U) << "the experiment shows nothing";
  const auto fenced = run_paused_set(set, Fencing::on);
  EXPECT_GT(fenced.added, 0U);
  EXPECT_EQ(fenced.lost, 0U);
}

}  // namespace
}  // namespace holdfast::zookeeper

int main(int argc, char** argv) { return holdfast::campaigns::main_of_paused_set(argc, argv); }
