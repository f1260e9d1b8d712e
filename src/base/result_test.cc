#include "holdfast/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "holdfast/client.h"

namespace holdfast {
namespace {

Result<std::unique_ptr<int>> half(int number) {
  if (number % 2 != 0) return Unexpected{Error{Errc::invalid_argument, "odd"}};
  return std::make_unique<int>(number / 2);
}

TEST(ResultTest, CarriesAValue) {
  auto result = half(8);
  ASSERT_TRUE(result);
  EXPECT_EQ(**result, 4);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 4);
}

TEST(ResultTest, CarriesAnError) {
  const auto result = half(3);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::invalid_argument);
  EXPECT_EQ(result.error().message, "odd");
}

TEST(ResultTest, ReadingTheWrongSideThrows) {
  const auto good = half(2);
  const auto bad = half(1);
  EXPECT_THROW(static_cast<void>(bad.value()), std::bad_variant_access);
  EXPECT_THROW(static_cast<void>(good.error()), std::bad_variant_access);
}

TEST(ResultTest, ValueOrFallsBackOnlyOnError) {
  EXPECT_EQ(Result<int>{7}.value_or(1), 7);
  EXPECT_EQ(Result<int>{Unexpected{Errc::busy}}.value_or(1), 1);
}

TEST(ResultTest, VoidResultIsSuccessUnlessToldOtherwise) {
  EXPECT_TRUE(Result<void>{});
  const Result<void> failed{Unexpected{Errc::lost}};
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::lost);
}

TEST(ResultTest, AnErrorWidensIntoTheMoreSpecificOne) {
  const Result<int, AcquireError> result{Unexpected{Error{Errc::timeout, "waited 1 s"}}};
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "waited 1 s");
  EXPECT_FALSE(result.error().holder);
}

}  // namespace
}  // namespace holdfast
