#include "sim/world/disk.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::sim {
namespace {

TEST(DiskTest, WithoutPersistenceNothingIsLeft) {
  Disk<std::string> disk{Persistence::none};
  disk.sync("written");
  EXPECT_EQ(disk.crash("written"), "");
}

TEST(DiskTest, EverySecondKeepsWhatWasThereAtTheLastSync) {
  Disk<std::string> disk{Persistence::everysec};
  EXPECT_EQ(disk.crash("one"), "");
  disk.sync("one");
  EXPECT_EQ(disk.crash("one, two"), "one");
  disk.sync("one, two");
  EXPECT_EQ(disk.crash("one, two"), "one, two");
}

TEST(DiskTest, AlwaysKeepsEverything) {
  const std::string written = "written";
  const Disk<std::string> disk{Persistence::always};
  EXPECT_EQ(disk.crash(written), written);
}

}  // namespace
}  // namespace holdfast::sim
