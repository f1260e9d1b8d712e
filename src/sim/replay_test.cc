// The replay command says what a run needs and nothing that is as usual.

#include "sim/replay.h"

#include <gtest/gtest.h>

#include "sim/faults/fault_list.h"

namespace holdfast::sim {
namespace {

TEST(ReplayTest, NamesEngineAndSeed) {
  EXPECT_EQ(replay_command(123, {.protocol = find_protocol("redlock")}),
            "./holdfast lab sim --engine redlock --seed 123");
}

TEST(ReplayTest, NamesEverythingThatIsNotAsUsual) {
  const SeedOptions options{.protocol = find_protocol("redlock"),
                            .mutant = find_mutant("redlock-one-node"),
                            .nodes = 5,
                            .clients = 7,
                            .faults = FaultSet{}.with(FaultClass::pause).with(FaultClass::loss),
                            .events = 900,
                            .stop_after = 812};
  EXPECT_EQ(replay_command(123, options),
            "./holdfast lab sim --engine redlock --mutant redlock-one-node --seed 123 "
            "--faults loss,pause --nodes 5 --clients 7 --events 900 --stop-after 812");
}

TEST(FaultListTest, GoesBothWays) {
  for (const FaultSet faults : {FaultSet{},
                                FaultSet::all(),
                                FaultSet{}.with(FaultClass::one_way),
                                FaultSet::all().without(FaultClass::promotion)}) {
    const auto parsed = parse_faults(to_list(faults));
    ASSERT_TRUE(parsed) << to_list(faults);
    EXPECT_EQ(*parsed, faults);
  }
  EXPECT_EQ(to_list({}), "none");
  EXPECT_EQ(to_list(FaultSet::all()), "all");
}

TEST(FaultListTest, NamesTheWordItDoesNotKnow) {
  for (const char* list : {"", "pause,", ",pause", "pause,,loss", "pause,flood", "all,pause"}) {
    EXPECT_FALSE(parse_faults(list)) << list;
  }
  const auto parsed = parse_faults("pause,flood");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Errc::invalid_argument);
  EXPECT_NE(parsed.error().message.find("'flood'"), std::string::npos);
  EXPECT_NE(parsed.error().remedy().find("one-way"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::sim
