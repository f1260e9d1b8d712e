#include "engines/local/state_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engines/local/engine.h"
#include "engines/local/state_dir.h"
#include "engines/local/test_directory.h"
#include "engines/local/token_clock.h"

namespace holdfast::local {
namespace {

Errc code_of_open(const std::string& directory) {
  auto file = StateFile::open(directory);
  if (file) return Errc{};
  EXPECT_FALSE(file.error().message.empty());
  EXPECT_FALSE(file.error().remedy().empty());
  return file.error().code;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream{path, std::ios::binary} << content;
}

std::string read_file(const std::string& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

// A token as the engine would give it out.
std::uint64_t take_token(Engine& engine) {
  auto ticket = engine.enter("t", {.ttl = Millis{30'000}}, BootClock::now());
  EXPECT_TRUE(ticket.has_value());
  engine.leave(*ticket);
  return ticket->token.value();
}

std::unique_ptr<Engine> open_engine(const std::string& directory) {
  auto engine = Engine::open(directory);
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  return std::move(*engine);
}

TEST(StateFileTest, ForeignFilesAreRefusedAndLeftAlone) {
  const TestDirectory directory;
  for (const std::string& content : {std::string{"not ours"}, std::string(1'000'000, 'x')}) {
    write_file(directory.file(), content);
    EXPECT_EQ(code_of_open(directory.path()), Errc::corrupt);
    EXPECT_EQ(read_file(directory.file()), content);
  }
}

TEST(StateFileTest, TruncatedFilesAreRefused) {
  const TestDirectory directory;
  ASSERT_EQ(code_of_open(directory.path()), Errc{});
  for (const off_t size : {off_t{1}, off_t{100}, off_t{4096}, off_t{300'000}}) {
    ASSERT_EQ(truncate(directory.file().c_str(), size), 0);
    EXPECT_EQ(code_of_open(directory.path()), Errc::corrupt) << size;
    ASSERT_EQ(unlink(directory.file().c_str()), 0);
    ASSERT_EQ(code_of_open(directory.path()), Errc{});
  }
}

TEST(StateFileTest, OtherVersionsAreRefused) {
  const TestDirectory directory;
  ASSERT_EQ(code_of_open(directory.path()), Errc{});
  std::string content = read_file(directory.file());
  content[8] = static_cast<char>(Header::kVersion + 1);
  write_file(directory.file(), content);
  EXPECT_EQ(code_of_open(directory.path()), Errc::corrupt);
}

TEST(StateFileTest, DamagedReferencesAreRefused) {
  const TestDirectory directory;
  {
    auto engine = open_engine(directory.path());
    auto ticket =
        engine->enter("d", {.kind = LeaseKind::detached, .ttl = Millis{60'000}}, BootClock::now());
    ASSERT_TRUE(engine->confirm(*ticket, BootClock::now()));
  }
  std::string content = read_file(directory.file());
  for (std::size_t at = kHeaderBytes; at < kHeapBegin; at += 8) {
    if (content[at] == '\0') continue;
    content[at + 2] = '\x7f';
  }
  write_file(directory.file(), content);
  EXPECT_EQ(code_of_open(directory.path()), Errc::corrupt);
}

TEST(StateFileTest, AnUnfinishedFileIsBegunAnew) {
  const TestDirectory directory;
  write_file(directory.file(), "");
  EXPECT_EQ(code_of_open(directory.path()), Errc{});
  write_file(directory.file(), std::string(kFileBytesInitial, '\0'));
  EXPECT_EQ(code_of_open(directory.path()), Errc{});
}

TEST(StateFileTest, ADirectoryInThePlaceOfTheFileIsRefused) {
  const TestDirectory directory;
  ASSERT_EQ(mkdir(directory.file().c_str(), 0700), 0);
  EXPECT_EQ(code_of_open(directory.path()), Errc::io_error);
}

TEST(StateFileTest, AFileInThePlaceOfTheDirectoryIsRefused) {
  const TestDirectory directory;
  write_file(directory.path() + "/plain", "x");
  EXPECT_EQ(code_of_open(directory.path() + "/plain"), Errc::io_error);
  EXPECT_EQ(code_of_open(directory.path() + "/plain/below"), Errc::io_error);
}

TEST(StateFileTest, NetworkFileSystemsAreKnown) {
  constexpr long kNfs = 0x6969;
  constexpr long kFuse = 0x65735546;
  constexpr long kExt4 = 0xef53;
  constexpr long kTmpfs = 0x01021994;
  EXPECT_TRUE(is_network_file_system(kNfs));
  EXPECT_TRUE(is_network_file_system(kFuse));
  EXPECT_TRUE(is_network_file_system(static_cast<int>(0xff534d42)));
  EXPECT_FALSE(is_network_file_system(kExt4));
  EXPECT_FALSE(is_network_file_system(kTmpfs));
}

TEST(StateFileTest, TokensGoOnAboveTheLastWhenTheFileIsOpenedAgain) {
  const TestDirectory directory;
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    auto engine = open_engine(directory.path());
    for (int n = 0; n < 100; ++n) {
      const std::uint64_t token = take_token(*engine);
      ASSERT_GT(token, last);
      last = token;
    }
  }
}

TEST(StateFileTest, ADeletedDirectoryDoesNotGiveATokenAgain) {
  const TestDirectory directory;
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    {
      auto engine = open_engine(directory.path());
      // As fast as it gets: the counter must not run ahead of the clock it is begun anew from.
      for (int n = 0; n < 200'000; ++n) {
        const std::uint64_t token = take_token(*engine);
        ASSERT_GT(token, last);
        last = token;
      }
    }
    std::filesystem::remove_all(directory.path());
  }
}

// Goal: a machine that crashes keeps the file as it was at the last fsync; no token given out after
// that is given out again.
// Method: copy the file right after a reservation reached the disk, use the whole reservation up,
// put the copy back.
TEST(StateFileTest, TheFileAsOfTheLastSyncDoesNotGiveATokenAgain) {
  const TestDirectory directory;
  const std::string copy = directory.path() + "/copy";
  std::uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    {
      auto engine = open_engine(directory.path());
      const std::uint64_t limit = engine->header().token_limit.load();
      while (engine->header().token_limit.load() == limit) last = take_token(*engine);
      std::filesystem::copy_file(
          directory.file(), copy, std::filesystem::copy_options::overwrite_existing);
      const std::uint64_t reserved = engine->header().token_limit.load();
      while (last + 1 < reserved) last = take_token(*engine);
    }
    std::filesystem::copy_file(
        copy, directory.file(), std::filesystem::copy_options::overwrite_existing);
    auto engine = open_engine(directory.path());
    const std::uint64_t token = take_token(*engine);
    ASSERT_GT(token, last);
    last = token;
  }
}

TEST(StateFileTest, AFullDiskIsToldAndNothingIsLost) {
  const TestDirectory directory;
  const std::string mount_point = directory.path() + "/small";
  ASSERT_EQ(mkdir(mount_point.c_str(), 0700), 0);
  ASSERT_EQ(mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=1m"), 0)
      << "this test mounts a small file system and needs to be root";
  {
    auto engine = open_engine(mount_point);
    auto held = engine->enter("held", {.ttl = Millis{30'000}}, BootClock::now());
    ASSERT_TRUE(held.has_value());
    std::vector<Ticket> tickets;
    Errc told{};
    for (int i = 0; i < 100'000 && told == Errc{}; ++i) {
      auto ticket =
          engine->enter("n" + std::to_string(i), {.ttl = Millis{30'000}}, BootClock::now());
      if (ticket) {
        tickets.push_back(*ticket);
      } else {
        told = ticket.error().code;
      }
    }
    EXPECT_EQ(told, Errc::no_space);
    EXPECT_EQ(engine->mark_of(*held), Mark::none);
    EXPECT_EQ(engine->renew(*held, BootClock::now()), Renewal::renewed);
    EXPECT_EQ(engine->leave(*held), Mark::left);
    for (const Ticket& ticket : tickets) EXPECT_EQ(engine->leave(ticket), Mark::left);
  }
  EXPECT_EQ(umount(mount_point.c_str()), 0);
}

TEST(TokenClockTest, ReservationsFollowTheClock) {
  EXPECT_EQ(plan_reservation(0, std::chrono::seconds{10}, 0).tokens, kTokenBlockMax);
  EXPECT_EQ(plan_reservation(0, std::chrono::milliseconds{1}, 0).tokens, 10'000U);
  EXPECT_EQ(plan_reservation(0, Duration{0}, kTokenBlockMin).tokens, kTokenBlockMin);
  EXPECT_EQ(plan_reservation(0, Duration{0}, kTokenBlockMin).wait, Duration{0});
  const Reservation hasty = plan_reservation(0, Duration{0}, 10 * kTokenBlockMin);
  EXPECT_EQ(hasty.wait, Duration{9 * kTokenBlockMin * 100});
}

}  // namespace
}  // namespace holdfast::local
