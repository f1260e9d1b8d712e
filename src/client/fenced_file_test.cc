// The rules of the store, one by one, on a file.

#include "holdfast/fenced_file.h"

#include <gtest/gtest.h>

#include "client/fake_backend.h"
#include "client/fenced_file_testing.h"
#include "engines/local/test_directory.h"
#include "holdfast/client.h"

namespace holdfast {
namespace {

using testing::code;
using testing::holder;
using testing::kDone;

class FencedFileTest : public ::testing::Test {
 protected:
  FencedFile open(const Sequencer& who, const OpenOptions& options = {}) {
    auto file = FencedFile::open(path_, who, options);
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    return *std::move(file);
  }
  Errc open_error(const Sequencer& who, const OpenOptions& options = {}) {
    const auto file = FencedFile::open(path_, who, options);
    return file ? Errc{} : file.error().code;
  }
  FencedFile unopened(const Sequencer& who) { return *FencedFile::unopened(path_, who); }

  std::optional<std::string> on_disk() const { return testing::on_disk(path_); }
  bool has_marks() const { return std::filesystem::exists(path_ + ".fence"); }

  local::TestDirectory directory_;
  std::string path_{directory_.path() + "/ledger"};
};

TEST_F(FencedFileTest, IsAPlainFileWithAnyBytes) {
  FencedFile file = open(holder(1));
  EXPECT_EQ(*file.read(), std::nullopt);
  std::string large(3U << 20, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 >> 3);
  for (const std::string& content : {std::string{"one\0two", 7}, std::string{}, large}) {
    const auto written = file.write(content);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->applied, Applied::applied);
    EXPECT_EQ(on_disk(), content);
    EXPECT_EQ(*file.read(), content);
  }
}

TEST_F(FencedFileTest, OpensWithALease) {
  Client client{std::make_shared<testing::FakeBackend>()};
  const auto old_lease = client.acquire("x");
  ASSERT_TRUE(old_lease);
  auto old_file = FencedFile::open(path_, *old_lease);
  ASSERT_TRUE(old_file) << old_file.error().message;
  EXPECT_EQ(old_file->token(), old_lease->token());
  EXPECT_EQ(code(old_file->write("1")), kDone);
  const auto other = client.acquire("y");
  EXPECT_EQ(code(FencedFile::open(path_, *other)), Errc::wrong_domain);
}

TEST_F(FencedFileTest, OpenFencesTheOldHolderBeforeTheNewOneWrites) {
  FencedFile old_file = open(holder(1));
  ASSERT_EQ(code(old_file.write("old")), kDone);
  FencedFile new_file = open(holder(2));
  const auto late = old_file.write("late");
  ASSERT_EQ(code(late), Errc::stale_token);
  EXPECT_EQ(late.error().yours, Token{1});
  EXPECT_EQ(late.error().highest, Token{2});
  EXPECT_EQ(code(old_file.erase()), Errc::stale_token);
  EXPECT_EQ(code(old_file.read()), Errc::stale_token);
  EXPECT_EQ(open_error(holder(1)), Errc::stale_token);
  EXPECT_EQ(*new_file.read(), "old");
}

TEST_F(FencedFileTest, RepeatingTheLastOperationIsADuplicate) {
  FencedFile file = open(holder(1));
  ASSERT_EQ(file.write_at(1, "a")->applied, Applied::applied);
  ASSERT_EQ(file.write_at(2, "b")->applied, Applied::applied);
  const auto again = file.write_at(2, "b");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->applied, Applied::duplicate);
  EXPECT_EQ(again->version, Version{2});
  EXPECT_EQ(code(file.write_at(2, "other")), Errc::invalid_argument);
  EXPECT_EQ(code(file.erase_at(2)), Errc::invalid_argument);
  EXPECT_EQ(code(file.write_at(1, "a")), Errc::stale_token);
  EXPECT_EQ(code(file.write_at(0, "a")), Errc::invalid_argument);
  EXPECT_EQ(on_disk(), "b");
  ASSERT_EQ(file.erase_at(3)->applied, Applied::applied);
  EXPECT_EQ(file.erase_at(3)->applied, Applied::duplicate);
  EXPECT_EQ(on_disk(), std::nullopt);
}

TEST_F(FencedFileTest, OpeningAgainTellsTheLastSequence) {
  {
    FencedFile file = open(holder(1));
    EXPECT_EQ(file.sequence(), 0U);
    ASSERT_EQ(code(file.write("a")), kDone);
    ASSERT_EQ(code(file.write("b")), kDone);
  }
  FencedFile file = open(holder(1));
  EXPECT_EQ(file.sequence(), 2U);
  EXPECT_EQ(file.write("c")->sequence, 3U);
  EXPECT_EQ(open(holder(2)).sequence(), 0U);
}

TEST_F(FencedFileTest, TwoHandlesOfOneTokenDoNotOverwriteEachOtherUnseen) {
  FencedFile one = open(holder(1));
  FencedFile two = open(holder(1));
  ASSERT_EQ(code(one.write("one")), kDone);
  EXPECT_EQ(code(two.write("two")), Errc::invalid_argument);
  ASSERT_EQ(*two.read(), "one");
  EXPECT_EQ(code(two.write("two")), kDone);
}

TEST_F(FencedFileTest, TheSameTokenOfAnotherOwnerIsRefused) {
  FencedFile file = open(holder(5));
  EXPECT_EQ(open_error(holder(5, Mode::exclusive, "twin")), Errc::stale_token);
  FencedFile twin = unopened(holder(5, Mode::exclusive, "twin"));
  EXPECT_EQ(code(twin.write("twin")), Errc::stale_token);
  EXPECT_EQ(code(twin.read()), Errc::stale_token);
  EXPECT_EQ(on_disk(), std::nullopt);
}

TEST_F(FencedFileTest, SharedHoldersReadAndFenceOlderWriters) {
  FencedFile writer = open(holder(1));
  ASSERT_EQ(code(writer.write("v")), kDone);
  FencedFile older = open(holder(2, Mode::shared));
  FencedFile newer = open(holder(3, Mode::shared));
  EXPECT_EQ(*older.read(), "v");
  EXPECT_EQ(*newer.read(), "v");
  EXPECT_EQ(code(newer.write("w")), Errc::invalid_argument);
  EXPECT_EQ(code(writer.write("w")), Errc::stale_token);
  EXPECT_EQ(*writer.read(), "v");
  FencedFile next = open(holder(4));
  EXPECT_EQ(code(older.read()), Errc::stale_token);
  EXPECT_EQ(code(next.write("w")), kDone);
}

TEST_F(FencedFileTest, AnotherLockIsTheWrongDomain) {
  FencedFile file = open(holder(1));
  Sequencer other = holder(9);
  other.name = "another lock";
  const auto refused = FencedFile::open(path_, other);
  ASSERT_EQ(code(refused), Errc::wrong_domain);
  EXPECT_NE(refused.error().remedy().find("ledger.fence"), std::string_view::npos);
  EXPECT_EQ(code(file.write("still mine")), kDone);
}

TEST_F(FencedFileTest, StrictAllowsOneWritePerToken) {
  FencedFile file = open(holder(1), {.policy = WritePolicy::strict});
  ASSERT_EQ(code(file.write_at(1, "a")), kDone);
  EXPECT_EQ(file.write_at(1, "a")->applied, Applied::duplicate);
  EXPECT_EQ(code(file.write_at(2, "b")), Errc::stale_token);
  EXPECT_EQ(code(file.erase_at(2)), Errc::stale_token);
  EXPECT_EQ(open_error(holder(2), {.policy = WritePolicy::many}), Errc::invalid_argument);
  EXPECT_EQ(code(open(holder(2)).write("b")), kDone);
}

TEST_F(FencedFileTest, AnUnopenedHandleRegistersWithItsFirstOperation) {
  ASSERT_EQ(code(unopened(holder(2)).write_at(1, "v")), kDone);
  EXPECT_EQ(unopened(holder(2)).write_at(1, "v")->applied, Applied::duplicate);
  EXPECT_EQ(code(unopened(holder(1)).write_at(1, "w")), Errc::stale_token);
  EXPECT_EQ(unopened(holder(2)).write("w")->sequence, 2U);
  EXPECT_EQ(*unopened(holder(3)).read(), "w");
  EXPECT_EQ(code(unopened(holder(2)).write_at(3, "x")), Errc::stale_token);
}

TEST_F(FencedFileTest, AnUnopenedHandleTouchesNothing) {
  const FencedFile file = unopened(holder(1));
  EXPECT_FALSE(has_marks());
  EXPECT_EQ(file.sequence(), 0U);
}

TEST_F(FencedFileTest, MarksOutliveTheContentAndVersionsGoOn) {
  FencedFile file = open(holder(2));
  EXPECT_EQ(file.write("v")->version, Version{1});
  EXPECT_EQ(file.erase()->version, Version{2});
  EXPECT_EQ(*file.read(), std::nullopt);
  EXPECT_EQ(file.erase()->applied, Applied::applied);
  EXPECT_EQ(code(unopened(holder(1)).write("old")), Errc::stale_token);
  EXPECT_EQ(open(holder(3)).write("v")->version, Version{4});
}

TEST_F(FencedFileTest, AHolderThatOpenedIsNotLetInAsNewWhenTheMarksAreRemoved) {
  FencedFile file = open(holder(1));
  ASSERT_EQ(code(file.write("v")), kDone);
  std::filesystem::remove(path_ + ".fence");
  EXPECT_EQ(code(file.write("w")), Errc::stale_token);
  EXPECT_EQ(code(file.read()), Errc::stale_token);
  EXPECT_EQ(on_disk(), "v");
}

TEST_F(FencedFileTest, BadHoldersAreInvalidAndTouchNothing) {
  for (const std::uint64_t token : {std::uint64_t{0}, Token::kMax + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(open_error(holder(token)), Errc::invalid_argument) << token;
  }
  EXPECT_EQ(open_error(holder(1, Mode::permit)), Errc::invalid_argument);
  EXPECT_FALSE(has_marks());
  EXPECT_EQ(open_error(holder(Token::kMax)), kDone);
}

TEST_F(FencedFileTest, ALockWithAnIdentityBeyondAllLimitsIsInvalid) {
  Sequencer endless = holder(1);
  endless.domain = std::string(5'000, 'd');
  EXPECT_EQ(open_error(endless), Errc::invalid_argument);
  EXPECT_EQ(open_error(holder(1)), kDone);
}

}  // namespace
}  // namespace holdfast
