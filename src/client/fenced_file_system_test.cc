// Fenced files and what file systems do to them.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "client/fence_mark.h"
#include "client/fenced_file_testing.h"
#include "engines/local/test_directory.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

using testing::code;
using testing::holder;
using testing::kDone;
using testing::on_disk;
using testing::put_on_disk;

/// Runs in a process of its own, as an ordinary user; the code it returns.
Errc in_child(const std::function<Errc()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(100);
    _exit(static_cast<int>(act()));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  return static_cast<Errc>(WEXITSTATUS(status));
}

class FencedFileSystemTest : public ::testing::Test {
 protected:
  Errc open_error(const std::string& path) { return code(FencedFile::open(path, holder(1))); }
  Errc write(std::uint64_t token, std::string_view content) {
    auto file = FencedFile::open(path_, holder(token));
    return file ? code(file->write(content)) : file.error().code;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator{directory_.path()}) {
      found.push_back(entry.path().filename());
    }
    std::ranges::sort(found);
    return found;
  }

  local::TestDirectory directory_;
  std::string path_{directory_.path() + "/ledger"};
  std::string fence_{path_ + ".fence"};
};

TEST_F(FencedFileSystemTest, LeavesTheFileAndItsMarksOnly) {
  ASSERT_EQ(write(1, "a"), kDone);
  ASSERT_EQ(write(2, "b"), kDone);
  EXPECT_EQ(names(), (std::vector<std::string>{"ledger", "ledger.fence"}));
}

TEST_F(FencedFileSystemTest, WritesTheTargetOfALinkAndKeepsTheLink) {
  fs::create_directory(directory_.path() + "/links");
  const std::string link = directory_.path() + "/links/link";
  fs::create_symlink("../second", link);
  fs::create_symlink("ledger", directory_.path() + "/second");
  // The target is not there yet.
  auto by_link = FencedFile::open(link, holder(1));
  ASSERT_TRUE(by_link) << by_link.error().message;
  ASSERT_EQ(code(by_link->write("through")), kDone);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_symlink(directory_.path() + "/second"));
  EXPECT_EQ(on_disk(path_), "through");
  // All names of the file share its marks.
  ASSERT_EQ(write(2, "directly"), kDone);
  EXPECT_EQ(code(by_link->write("late")), Errc::stale_token);
  EXPECT_EQ(on_disk(link), "directly");
}

TEST_F(FencedFileSystemTest, RelativePathsStayWhereTheyWereOpened) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  auto file = FencedFile::open("ledger", holder(1));
  fs::current_path(before);
  ASSERT_TRUE(file);
  EXPECT_EQ(code(file->write("v")), kDone);
  EXPECT_EQ(on_disk(path_), "v");
  EXPECT_EQ(file->path(), fs::canonical(path_));
}

TEST_F(FencedFileSystemTest, KeepsModeAndOwner) {
  put_on_disk(path_, "old");
  const bool is_root = geteuid() == 0;
  const uid_t owner = is_root ? 65534 : geteuid();
  ASSERT_EQ(chown(path_.c_str(), owner, static_cast<gid_t>(is_root ? 65534 : -1)), 0);
  ASSERT_EQ(chmod(path_.c_str(), 02664), 0);
  ASSERT_EQ(write(1, "new"), kDone);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 02664U);
  EXPECT_EQ(status.st_uid, owner);
  struct stat marks {};
  ASSERT_EQ(stat(fence_.c_str(), &marks), 0);
  EXPECT_EQ(marks.st_mode & 07777U, 0664U);
  EXPECT_EQ(marks.st_uid, status.st_uid);
  EXPECT_EQ(marks.st_gid, status.st_gid);
}

TEST_F(FencedFileSystemTest, NewFilesFollowTheUmask) {
  const mode_t before = umask(027);
  const Errc written = write(1, "v");
  umask(before);
  ASSERT_EQ(written, kDone);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms{0640});
  EXPECT_EQ(fs::status(fence_).permissions(), fs::perms{0640});
}

TEST_F(FencedFileSystemTest, SaysWhatIsWrongWithAPath) {
  EXPECT_EQ(open_error(directory_.path() + "/missing/ledger"), Errc::not_found);
  EXPECT_EQ(open_error(directory_.path()), Errc::invalid_argument);
  EXPECT_EQ(open_error(directory_.path() + "/"), Errc::invalid_argument);
  EXPECT_EQ(open_error(""), Errc::invalid_argument);
  EXPECT_EQ(open_error("/dev/null"), Errc::invalid_argument);
  EXPECT_EQ(open_error(fence_), Errc::invalid_argument);
  EXPECT_EQ(open_error(directory_.path() + "/" + std::string(250, 'n')), Errc::invalid_argument);
  EXPECT_EQ(open_error(path_ + std::string("\0x", 2)), Errc::invalid_argument);
  put_on_disk(path_, "v");
  EXPECT_EQ(open_error(path_ + "/ledger"), Errc::invalid_argument);
  fs::create_symlink("loop", directory_.path() + "/loop");
  EXPECT_EQ(open_error(directory_.path() + "/loop"), Errc::invalid_argument);
  EXPECT_EQ(names(), (std::vector<std::string>{"ledger", "loop"}));
}

TEST_F(FencedFileSystemTest, TheLongestNameWorks) {
  path_ = directory_.path() + "/" + std::string(232, 'n');
  EXPECT_EQ(write(1, "v"), kDone);
  EXPECT_EQ(on_disk(path_), "v");
}

TEST_F(FencedFileSystemTest, ADirectoryThatMayNotBeWrittenIsDenied) {
  ASSERT_EQ(write(1, "old"), kDone);
  fs::permissions(path_, fs::perms{0666});
  fs::permissions(fence_, fs::perms{0666});
  fs::permissions(directory_.path(), fs::perms{0555});
  EXPECT_EQ(in_child([&] { return write(2, "new"); }), Errc::denied);
  EXPECT_EQ(on_disk(path_), "old");
  // Nothing in the way of those who may.
  fs::permissions(directory_.path(), fs::perms{0777});
  EXPECT_EQ(in_child([&] { return write(2, "new"); }), kDone);
  EXPECT_EQ(on_disk(path_), "new");
  fs::remove(fence_);
  fs::permissions(directory_.path(), fs::perms{0555});
  EXPECT_EQ(in_child([&] { return write(3, "newer"); }), Errc::denied);
  fs::permissions(directory_.path(), fs::perms{0755});
}

TEST_F(FencedFileSystemTest, NoRoomLeavesTheOldContentAndNoTemporaryFile) {
  ASSERT_EQ(write(1, "old"), kDone);
  fs::permissions(directory_.path(), fs::perms{0777});
  fs::permissions(fence_, fs::perms{0666});
  const auto write_too_much = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return Errc::internal;
    auto file = FencedFile::open(path_, holder(2));
    const Errc first = code(file->write(std::string(1 << 20, 'x')));
    if (names().size() != 2) return Errc::internal;
    // The handle goes on with what fits.
    return code(file->write_at(1, "small")) == kDone ? first : Errc::internal;
  };
  EXPECT_EQ(in_child(write_too_much), Errc::no_space);
  EXPECT_EQ(on_disk(path_), "small");
  EXPECT_EQ(names(), (std::vector<std::string>{"ledger", "ledger.fence"}));
}

/// The marks after a few operations: two whole slots.
std::string two_slots(const std::string& fence) {
  const auto bytes = on_disk(fence);
  EXPECT_EQ(bytes->size(), 2 * files::kSlotBytes);
  return *bytes;
}

TEST_F(FencedFileSystemTest, ATornSlotLeavesTheOther) {
  ASSERT_EQ(write(1, "v"), kDone);
  // Twice: once for each slot being the newest.
  for (const std::uint64_t token : {2U, 3U}) {
    std::string bytes = two_slots(fence_);
    const auto first = files::decode(std::string_view{bytes}.substr(0, files::kSlotBytes));
    const auto second = files::decode(std::string_view{bytes}.substr(files::kSlotBytes));
    ASSERT_TRUE(first && second);
    bytes[(first->generation > second->generation ? 0 : files::kSlotBytes) + 40] ^= 1;
    put_on_disk(fence_, bytes);
    // The other slot says that the write was begun, and the file that it was done.
    const auto repeated = FencedFile::unopened(path_, holder(token - 1))->write_at(1, "v");
    ASSERT_TRUE(repeated) << repeated.error().message;
    EXPECT_EQ(repeated->applied, Applied::duplicate);
    ASSERT_EQ(write(token, "v"), kDone);
  }
}

TEST_F(FencedFileSystemTest, DamagedMarksAreCorruptAndTheContentStaysReadable) {
  ASSERT_EQ(write(1, "v"), kDone);
  std::string bytes = two_slots(fence_);
  bytes[40] ^= 1;
  bytes[files::kSlotBytes + 40] ^= 1;
  const std::string foreign = "a file of somebody else";
  for (const std::string& marks : {bytes, foreign, std::string(3 * files::kSlotBytes, '\0')}) {
    put_on_disk(fence_, marks);
    const auto file = FencedFile::open(path_, holder(2));
    ASSERT_EQ(code(file), Errc::corrupt);
    EXPECT_NE(file.error().remedy().find(fence_), std::string_view::npos);
    EXPECT_EQ(on_disk(path_), "v");
    EXPECT_EQ(on_disk(fence_), marks);
  }
}

TEST_F(FencedFileSystemTest, MarksThatWereNeverWrittenAreNew) {
  for (const std::size_t size : {std::size_t{0}, files::kSlotBytes}) {
    put_on_disk(fence_, std::string(size, '\0'));
    EXPECT_EQ(write(1, "v"), kDone) << size;
    fs::remove(fence_);
  }
}

TEST_F(FencedFileSystemTest, MarksAreNotFollowedThroughALink) {
  const std::string elsewhere = directory_.path() + "/elsewhere";
  put_on_disk(elsewhere, "");
  fs::create_symlink(elsewhere, fence_);
  EXPECT_EQ(write(1, "v"), Errc::invalid_argument);
  EXPECT_EQ(on_disk(elsewhere), "");
}

TEST_F(FencedFileSystemTest, WaitsForTheLockAndSaysWhoToLookFor) {
  const auto where = files::locate(path_);
  ASSERT_TRUE(where);
  {
    const auto held = files::FenceMark::lock(*where, BootClock::now());
    ASSERT_TRUE(held);
    const auto refused =
        files::FenceMark::lock(*where, BootClock::now() + std::chrono::milliseconds{5});
    ASSERT_EQ(code(refused), Errc::unavailable);
    EXPECT_NE(refused.error().remedy().find(fence_), std::string_view::npos);
  }
  EXPECT_TRUE(files::FenceMark::lock(*where, BootClock::now()));
}

TEST_F(FencedFileSystemTest, AForkedChildMustOpenAnew) {
  fs::permissions(directory_.path(), fs::perms{0777});
  auto file = FencedFile::open(path_, holder(1));
  ASSERT_TRUE(file);
  EXPECT_EQ(in_child([&] { return code(file->write("child")); }), Errc::shutting_down);
  EXPECT_EQ(code(file->write("parent")), kDone);
}

}  // namespace
}  // namespace holdfast
