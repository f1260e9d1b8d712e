#include "engines/postgres/refusal_error.h"

#include <gtest/gtest.h>

namespace holdfast::postgres {
namespace {

Errc code_of(const char* sqlstate) { return error_of(Refusal{.sqlstate = sqlstate}).code; }

TEST(RefusalErrorTest, SaysWhatToDoAboutIt) {
  EXPECT_EQ(code_of("42501"), Errc::denied);
  EXPECT_EQ(code_of("28P01"), Errc::denied);
  EXPECT_EQ(code_of("25006"), Errc::unavailable);
  EXPECT_EQ(code_of("3F000"), Errc::unavailable);
  EXPECT_EQ(code_of("42883"), Errc::unavailable);
  EXPECT_EQ(code_of("57P01"), Errc::unavailable);
  EXPECT_EQ(code_of("40P01"), Errc::unavailable);
  EXPECT_EQ(code_of("53300"), Errc::unavailable);
  EXPECT_EQ(code_of("55P03"), Errc::unavailable);
  EXPECT_EQ(code_of("53100"), Errc::no_space);
  EXPECT_EQ(code_of("22P05"), Errc::invalid_argument);
  EXPECT_EQ(code_of("25000"), Errc::unsupported);
  EXPECT_EQ(code_of("XX000"), Errc::internal);
}

TEST(RefusalErrorTest, NamesTheSqlstate) {
  const Error error = error_of(Refusal{.sqlstate = "42501", .message = "no"});
  EXPECT_EQ(error.message, "no (SQLSTATE 42501)");
}

TEST(RefusalErrorTest, ARefusalIsAnErrorLikeAnyOther) {
  EXPECT_EQ(rows_of(Answer{Refusal{.sqlstate = "42501"}}).error().code, Errc::denied);
  EXPECT_EQ(rows_of(Unexpected{Error{Errc::unknown_outcome}}).error().code, Errc::unknown_outcome);
  EXPECT_EQ(rows_of(Answer{Rows{{"t"}}})->size(), 1u);
}

}  // namespace
}  // namespace holdfast::postgres
