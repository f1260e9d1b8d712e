#include "recipes/take_read_write.h"

#include <gtest/gtest.h>

#include "recipes/run_here.h"
#include "recipes/scripted_locks_testing.h"

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;
using Story = std::vector<std::string>;

class TakeReadWriteTest : public testing::Test {
 protected:
  using Taking = ReadWriteTaking<ScriptedLocks>;

  Taking::Writing upgrade(Millis wait = kForever) {
    return run_here(taking_.upgrade(reader_, wait, {}));
  }

  Taking::Taken downgrade() {
    Taking::Writer writer{{"x~intent"}, {"x"}};
    return run_here(taking_.downgrade(std::move(writer), kForever, {}));
  }

  ScriptedLocks locks_;
  Taking taking_{locks_, "x", {}};
  ScriptedLocks::Lease reader_{"x"};
};

TEST_F(TakeReadWriteTest, AReaderAsksForTheNameAlone) {
  EXPECT_TRUE(run_here(taking_.read(kForever, {})));
  EXPECT_EQ(locks_.story, (Story{"wait to share x"}));
}

TEST_F(TakeReadWriteTest, AWriterAsksForTheIntentToo) {
  const auto writer = run_here(taking_.write(kForever, {}));
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->intent.name, "x~intent");
  EXPECT_EQ(writer->lease.name, "x");
  EXPECT_EQ(locks_.story, (Story{"try x~intent x"}));
}

TEST_F(TakeReadWriteTest, AnUpgradeHasTheIntentBeforeTheReaderGoes) {
  EXPECT_TRUE(upgrade());
  EXPECT_EQ(locks_.story, (Story{"try x~intent", "release x", "wait x"}));
}

TEST_F(TakeReadWriteTest, WithoutTheIntentTheReaderStays) {
  locks_.refusals["x~intent"] = {Errc::busy};
  const auto refused = upgrade();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_EQ(locks_.story, (Story{"try x~intent"}));
}

TEST_F(TakeReadWriteTest, AReaderThatWasLostBeforeTheIntentCameIsNotUpgraded) {
  locks_.lost["x"] = 1;
  const auto refused = upgrade();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::lost);
  EXPECT_EQ(locks_.story, (Story{"try x~intent", "release x", "release x~intent"}));
}

TEST_F(TakeReadWriteTest, NorIsOneWhoseReleaseTellsOfALoss) {
  locks_.lost_by_release = "x";
  EXPECT_EQ(upgrade().error().code, Errc::lost);
  EXPECT_EQ(locks_.story.back(), "release x~intent");
}

TEST_F(TakeReadWriteTest, WhoseIntentWasLostMeanwhileDoesNotWrite) {
  locks_.lost["x~intent"] = 1;
  EXPECT_EQ(upgrade().error().code, Errc::lost);
  EXPECT_EQ(locks_.story, (Story{"try x~intent", "release x", "wait x", "release x"}));
}

TEST_F(TakeReadWriteTest, WhoWaitsForReadersInVainIsAReaderAgainBeforeTheIntentGoes) {
  locks_.refusals["x"] = {Errc::timeout};
  EXPECT_EQ(upgrade(1s).error().code, Errc::timeout);
  EXPECT_EQ(locks_.story,
            (Story{"try x~intent", "release x", "wait x", "wait to share x", "release x~intent"}));
}

TEST_F(TakeReadWriteTest, ADowngradeKeepsTheIntentUntilItIsAReader) {
  EXPECT_TRUE(downgrade());
  EXPECT_EQ(locks_.story, (Story{"release x", "wait to share x", "release x~intent"}));
}

TEST_F(TakeReadWriteTest, ADowngradeWhoseIntentWasLostHoldsNothing) {
  locks_.lost["x~intent"] = 1;
  const auto refused = downgrade();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::lost);
  EXPECT_EQ(locks_.story, (Story{"release x", "wait to share x", "release x~intent", "release x"}));
}

}  // namespace
}  // namespace holdfast::recipes
