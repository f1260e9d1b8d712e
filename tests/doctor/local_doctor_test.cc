#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "tests/doctor/ids.h"

namespace holdfast {
namespace {

using Ids = std::set<std::string>;

class LocalDoctorTest : public testing::Test {
 protected:
  LocalDoctorTest() {
    std::string name = std::filesystem::temp_directory_path() / "holdfast-doctor-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  ~LocalDoctorTest() override { std::filesystem::remove_all(directory_); }

  /// Without what depends on the machine that runs the test.
  Ids found() const {
    Ids all = ids(diagnose("local:" + directory_));
    all.erase("memory_only");
    all.erase("disk_full");
    return all;
  }

  std::string directory_;
};

TEST_F(LocalDoctorTest, APrivateDirectoryIsGood) { EXPECT_EQ(found(), Ids{}); }

TEST_F(LocalDoctorTest, ADirectoryThatEverybodyMayChangeIsADanger) {
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  EXPECT_EQ(found(), Ids{"open_to_all"});
}

TEST_F(LocalDoctorTest, AUrlThatIsWrongIsAnError) {
  EXPECT_EQ(diagnose("local:relative?nonsense=1").error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast
