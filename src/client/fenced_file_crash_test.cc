// Goal: a process may be killed at every system call of every operation on a fenced file, and every
// such call may fail: the file is the old one or the new one, the operation can be repeated, and
// nobody is let in who should not be.
// Method: a child that stops at each system call (ptrace) is killed at the n-th stop, or has that
// call refused; for n = 0, 1, 2 … until the operation is over.

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "client/fenced_file_testing.h"
#include "client/tracee.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

using File = std::optional<std::string>;

using testing::holder;
using testing::Tracee;

enum class Left { nothing, killed_before_rename, killed_after_rename };

/// What token 2 does to a file, and what it finds.
struct Scene {
  const char* name;
  File before;
  File after;
  WritePolicy policy = WritePolicy::many;
  Left left = Left::nothing;
};

class FencedFileCrashTest : public ::testing::TestWithParam<Scene> {
 protected:
  /// One file for each death.
  void begin(std::size_t life) {
    folder_ = directory_.path() + "/" + std::to_string(life);
    fs::create_directory(folder_);
    path_ = folder_ + "/ledger";
    if (GetParam().before) {
      auto file = FencedFile::open(path_, holder(1), {.policy = GetParam().policy});
      ASSERT_TRUE(file && file->write(*GetParam().before));
    }
    if (GetParam().left != Left::nothing) leave_behind();
  }

  /// The operation, by a process that has not opened the file before.
  Result<WriteReceipt, StoreError> operate() {
    auto file = FencedFile::unopened(path_, holder(2));
    if (!file) return Unexpected{file.error()};
    return GetParam().after ? file->write_at(1, *GetParam().after) : file->erase_at(1);
  }
  Tracee victim() {
    return Tracee{[this] {
      const auto done = operate();
      return done ? Errc{} : done.error().code;
    }};
  }
  void leave_behind() {
    Tracee earlier = victim();
    ASSERT_TRUE(earlier.run_to(SYS_rename));
    if (GetParam().left == Left::killed_after_rename) earlier.step();
    earlier.kill_now();
  }

  File on_disk() const { return testing::on_disk(path_); }
  bool is_known_content(const File& content) const {
    return content == GetParam().before || content == GetParam().after;
  }

  void expect_repeatable(Applied expected);
  void expect_others_going_on();
  void expect_takeover(const File& found);

  testing::MemoryDirectory directory_;
  std::string folder_;
  std::string path_;
};

void FencedFileCrashTest::expect_repeatable(Applied expected) {
  const auto repeated = operate();
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->applied, expected);
  EXPECT_EQ(repeated->version, Version{GetParam().before ? 2U : 1U});
  EXPECT_EQ(on_disk(), GetParam().after);
  EXPECT_EQ(operate()->applied, Applied::duplicate);
  const auto second = FencedFile::unopened(path_, holder(2))->write_at(2, "second");
  EXPECT_EQ(second.has_value(), GetParam().policy == WritePolicy::many);
}

void FencedFileCrashTest::expect_others_going_on() {
  const auto late = FencedFile::unopened(path_, holder(1))->write("late");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::stale_token);
  auto newer = FencedFile::open(path_, holder(3));
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_TRUE(newer->write("newer"));
  EXPECT_EQ(on_disk(), "newer");
  for (const auto& entry : fs::directory_iterator{folder_}) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("ledger")) << entry.path();
  }
}

/// Token 3 comes instead of a repetition.
void FencedFileCrashTest::expect_takeover(const File& found) {
  auto newer = FencedFile::open(path_, holder(3));
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(*newer->read(), found);
  EXPECT_TRUE(newer->write("taken over"));
  const auto late = operate();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::stale_token);
  EXPECT_EQ(on_disk(), "taken over");
}

TEST_P(FencedFileCrashTest, KilledAtEverySystemCall) {
  bool over = false;
  std::size_t stops = 0;
  for (; !over && !HasFailure(); ++stops) {
    for (const bool repeats : {true, false}) {
      begin(2 * stops + (repeats ? 0 : 1));
      {
        Tracee child = victim();
        for (std::size_t n = 0; n < stops && !over; ++n) over = child.step() == Tracee::At::over;
        child.kill_now();
      }
      const File found = on_disk();
      ASSERT_TRUE(is_known_content(found)) << stops;
      if (repeats) {
        expect_repeatable(found == GetParam().after ? Applied::duplicate : Applied::applied);
        expect_others_going_on();
      } else {
        expect_takeover(found);
      }
      fs::remove_all(folder_);
    }
  }
  EXPECT_FALSE(HasFailure()) << "killed at stop " << stops - 1;
  EXPECT_GT(stops, 40U);
}

/// Calls on files. Memory that is refused is another story.
bool may_be_refused(long call) {
  constexpr std::array kCalls{SYS_openat,
                              SYS_read,
                              SYS_write,
                              SYS_pwrite64,
                              SYS_fsync,
                              SYS_rename,
                              SYS_fdatasync,
                              SYS_unlink,
                              SYS_fcntl,
                              SYS_fchown,
                              SYS_fchmod,
                              SYS_readlink,
                              SYS_newfstatat,
                              SYS_close};
  return std::ranges::find(kCalls, call) != kCalls.end();
}

TEST_P(FencedFileCrashTest, EverySystemCallRefused) {
  std::size_t refused = 0;
  for (bool over = false; !over && !HasFailure();) {
    begin(refused);
    const File found_before = on_disk();
    Tracee child = victim();
    long call = -1;
    for (std::size_t seen = 0; !over && seen <= refused;) {
      const Tracee::At at = child.step();
      over = at == Tracee::At::over;
      call = child.call();
      if (at == Tracee::At::entry && may_be_refused(call)) ++seen;
    }
    if (over) break;
    child.refuse(refused % 2 == 0 ? EIO : ENOSPC);
    const Errc answer = child.finish();
    const File found = on_disk();
    SCOPED_TRACE("call " + std::to_string(call) + " answered " + std::string{to_string(answer)});
    EXPECT_TRUE(is_known_content(found));
    if (answer == Errc{}) {
      EXPECT_EQ(found, GetParam().after);
    } else if (answer != Errc::unknown_outcome) {
      EXPECT_EQ(found, found_before);
    }
    expect_repeatable(found == GetParam().after ? Applied::duplicate : Applied::applied);
    expect_others_going_on();
    ++refused;
  }
  EXPECT_GT(refused, 20U);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes,
    FencedFileCrashTest,
    ::testing::Values(
        Scene{.name = "FirstWrite", .before = std::nullopt, .after = "new"},
        Scene{.name = "Replace", .before = "old", .after = "new"},
        Scene{.name = "Erase", .before = "old", .after = std::nullopt},
        Scene{.name = "Strict", .before = "old", .after = "new", .policy = WritePolicy::strict},
        Scene{.name = "SettleUndone",
              .before = "old",
              .after = "new",
              .left = Left::killed_before_rename},
        Scene{.name = "SettleDone",
              .before = "old",
              .after = "new",
              .left = Left::killed_after_rename}),
    [](const auto& scene) { return std::string{scene.param.name}; });

using FencedFileOrderTest = FencedFileCrashTest;

// What SIGKILL cannot show: that each step is on the disk before the next one is taken.
TEST_P(FencedFileOrderTest, EachStepIsOnTheDiskBeforeTheNext) {
  begin(0);
  Tracee child = victim();
  std::vector<long> steps;
  for (auto at = child.step(); at != Tracee::At::over; at = child.step()) {
    const long call = child.call();
    const bool counts = call == SYS_fsync || call == SYS_fdatasync || call == SYS_rename ||
                        call == SYS_unlink || call == SYS_pwrite64 || call == SYS_write;
    if (at == Tracee::At::entry && counts) steps.push_back(call);
  }
  EXPECT_EQ(child.finish(), Errc{});
  std::vector<long> expected{SYS_pwrite64, SYS_fdatasync};
  if (GetParam().after) {
    expected.insert(expected.end(), {SYS_write, SYS_fsync, SYS_rename});
  } else {
    expected.push_back(SYS_unlink);
  }
  expected.insert(expected.end(), {SYS_fsync, SYS_pwrite64, SYS_fdatasync});
  EXPECT_EQ(steps, expected);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes,
    FencedFileOrderTest,
    ::testing::Values(Scene{.name = "Replace", .before = "old", .after = "new"},
                      Scene{.name = "Erase", .before = "old", .after = std::nullopt}),
    [](const auto& scene) { return std::string{scene.param.name}; });

class FencedFileFaultTest : public ::testing::Test {
 protected:
  testing::MemoryDirectory directory_;
  std::string path_{directory_.path() + "/ledger"};
};

TEST_F(FencedFileFaultTest, RepeatingACallOfUnknownOutcomeSettlesIt) {
  Tracee child{[this] {
    auto file = FencedFile::open(path_, holder(1));
    const auto first = file->write("new");
    if (first || first.error().code != Errc::unknown_outcome) return Errc::internal;
    const auto again = file->write("new");
    return again && again->applied == Applied::duplicate ? Errc{} : Errc::internal;
  }};
  ASSERT_TRUE(child.run_to(SYS_rename));
  ASSERT_TRUE(child.run_to(SYS_fsync));
  child.refuse(EIO);
  EXPECT_EQ(child.finish(), Errc{});
}

TEST_F(FencedFileFaultTest, MarksThatAreRemovedUnderAWaitingProcessAreMadeAnew) {
  ASSERT_TRUE(FencedFile::open(path_, holder(1)));
  Tracee child{[this] { return testing::code(FencedFile::open(path_, holder(2))); }};
  // It has opened the marks and is about to lock them.
  ASSERT_TRUE(child.run_to(SYS_fcntl));
  fs::remove(path_ + ".fence");
  EXPECT_EQ(child.finish(), Errc{});
  EXPECT_EQ(testing::code(FencedFile::open(path_, holder(1))), Errc::stale_token);
}

}  // namespace
}  // namespace holdfast
