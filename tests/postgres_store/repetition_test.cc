// Requests that are sent again because nobody knows whether they were done: the effect comes once,
// and the caller is never told the wrong thing.

#include "tests/postgres_store/store_bed.h"

namespace holdfast::postgres {
namespace {

using core::Attempt;
using core::Earlier;

class RepetitionTest : public StoreBed {
 protected:
  static constexpr std::uint64_t kMine = 99'999;

  core::StoreAnswer again(const StoreRequest& request) {
    return ask(request, kMine, Attempt::repeated);
  }
  std::string stored() {
    const auto found = perform(get());
    return found && found->entry ? found->entry->value : "nothing";
  }
};

TEST_F(RepetitionTest, APutIsDoneOnceAndItsVersionIsTheFirst) {
  const auto first = ask(put("a", Version::absent()), kMine).result;
  ASSERT_TRUE(first);
  const auto second = again(put("a", Version::absent())).result;
  ASSERT_TRUE(second);
  EXPECT_EQ(second->version, first->version);
  EXPECT_EQ(stored(), "a");
}

TEST_F(RepetitionTest, WhatOthersPutMeanwhileStays) {
  ASSERT_TRUE(ask(put("mine"), kMine).result);
  ASSERT_TRUE(perform(put("theirs")));
  EXPECT_TRUE(again(put("mine")).result->changed);
  EXPECT_EQ(stored(), "theirs");
}

TEST_F(RepetitionTest, AnEraseFoundWhatItErased) {
  ASSERT_TRUE(perform(put("a")));
  EXPECT_TRUE(ask(erase(), kMine).result->changed);
  EXPECT_TRUE(again(erase()).result->changed);
}

TEST_F(RepetitionTest, AFencedWriteIsDoneOnce) {
  ASSERT_TRUE(perform(open(5)));
  StoreRequest next = write(5, 1, "a");
  std::get<WriteResource>(next.operation).sequence.reset();
  ASSERT_EQ(ask(next, kMine).result->sequence, 1U);
  const auto second = again(next).result;
  ASSERT_TRUE(second);
  EXPECT_EQ(second->applied, Applied::applied);
  EXPECT_EQ(second->sequence, 1U);
  EXPECT_EQ(perform(write(5, 1, "a"))->applied, Applied::duplicate);
}

// It was done before the newer holder came: to say stale_token would be wrong.
TEST_F(RepetitionTest, AWriteThatWasDoneBeforeATakeoverIsDone) {
  ASSERT_TRUE(ask(write(5, 1, "a"), kMine).result);
  ASSERT_TRUE(perform(open(6)));
  EXPECT_TRUE(again(write(5, 1, "a")).result);
}

TEST_F(RepetitionTest, AConflictIsTrueWhenTheFirstAttemptWasNotDone) {
  const auto before = perform(put("a"))->version;
  ASSERT_TRUE(perform(put("theirs")));
  const auto answer = again(put("mine", before));
  EXPECT_EQ(answer.result.error().code, Errc::version_conflict);
  EXPECT_EQ(answer.earlier, Earlier::settled);
}

// Too much has happened to tell whose change was the first.
TEST_F(RepetitionTest, WhatCannotBeSettledIsOpen) {
  const auto before = perform(put("a"))->version;
  ASSERT_TRUE(ask(put("mine", before), kMine).result);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(perform(put("theirs")));
  const auto answer = again(put("mine", before));
  EXPECT_EQ(answer.result.error().code, Errc::version_conflict);
  EXPECT_EQ(answer.earlier, Earlier::open);
}

TEST_F(RepetitionTest, ARebaseIsDoneAndRecordedOnce) {
  ASSERT_TRUE(perform(open(5)));
  const StoreRequest rebase{.key = "k",
                            .operation = RebaseResource{.domain = "new#y", .why = "moved"}};
  ASSERT_TRUE(ask(rebase, kMine).result);
  ASSERT_TRUE(again(rebase).result);
  EXPECT_EQ(sql_.value("SELECT string_agg(concat_ws(' ', action, key, from_domain, to_domain, "
                       "highest, why, who), ';') FROM holdfast.audit"),
            "rebase hf/k postgres:somewhere#x new#y 5 moved the tests");
}

TEST_F(RepetitionTest, WhatIsForgottenGoesWhenMoreIsErased) {
  for (int i = 0; i < 6; ++i) {
    const std::string key = "gone" + std::to_string(i);
    ASSERT_TRUE(perform({.key = key, .operation = PutKey{.value = "v"}}));
    ASSERT_TRUE(perform({.key = key, .operation = EraseKey{}}));
  }
  sql_.value("UPDATE holdfast.store SET forget = '1970-01-01'");
  ASSERT_TRUE(perform(put("a")));
  EXPECT_EQ(sql_.value("SELECT count(*) FROM holdfast.store"), "7");
  ASSERT_TRUE(perform(erase()));
  EXPECT_EQ(sql_.value("SELECT count(*) FROM holdfast.store"), "3");
}

TEST_F(RepetitionTest, TheLargestValuesAndNumbersAreExact) {
  const std::string largest(kValueBytesMax, '\0');
  ASSERT_TRUE(perform(put(largest)));
  EXPECT_EQ(perform(get())->entry->value, largest);
  sql_.value("SET bytea_output = escape");
  EXPECT_EQ(perform(get())->entry->value, largest);
  ASSERT_TRUE(perform(erase()));
  ASSERT_TRUE(perform(open(Token::kMax - 1)));
  EXPECT_EQ(perform(write(Token::kMax - 1, core::kSequenceMax, "a"))->sequence, core::kSequenceMax);
  ASSERT_TRUE(perform(open(Token::kMax)));
  EXPECT_EQ(perform(open(Token::kMax - 1)).error().highest, Token{Token::kMax});
}

TEST_F(RepetitionTest, WithoutDurabilityByDefaultAChangeIsDurableAllTheSame) {
  sql_.script("SET synchronous_commit = off; BEGIN");
  ASSERT_TRUE(perform(open(5)));
  EXPECT_EQ(sql_.value("SHOW synchronous_commit"), "on");
  ASSERT_TRUE(perform(write(5, 1, "a")));
  sql_.script("COMMIT");
  EXPECT_EQ(sql_.value("SHOW synchronous_commit"), "off");
}

}  // namespace
}  // namespace holdfast::postgres
