#include "recipes/candidacy.h"

#include <gtest/gtest.h>

#include "core/election.h"

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;

TEST(CandidacyTest, ACandidateWithoutAnIdIsGivenOneOfItsOwn) {
  const auto one = check_candidacy("billing", "", "", {});
  const auto other = check_candidacy("billing", "", "", {});
  ASSERT_TRUE(one && other);
  EXPECT_FALSE(one->id.empty());
  EXPECT_NE(one->id, other->id);
  EXPECT_TRUE(core::check_candidate(one->id, ""));
}

TEST(CandidacyTest, TheLabelTellsIdAndValue) {
  const auto terms = check_candidacy("billing", "worker-2", "10.0.0.7:8080", {});
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->label, "candidate worker-2, 10.0.0.7:8080");
  EXPECT_EQ(terms->next_name, "billing.next");
}

TEST(CandidacyTest, WhatIsWrongIsRefusedBeforeAnythingIsTouched) {
  const auto code = [](std::string_view name, std::string_view id, std::string_view value) {
    const auto terms = check_candidacy(name, id, value, {});
    return terms ? Errc{} : terms.error().code;
  };
  EXPECT_EQ(code("", "a", ""), Errc::invalid_argument);
  EXPECT_EQ(code(std::string(510, 'a'), "a", ""), Errc::invalid_argument);
  EXPECT_EQ(code("billing", "two words", ""), Errc::invalid_argument);
  EXPECT_EQ(code("billing", "a", "x\ty"), Errc::invalid_argument);
  const auto terms = check_candidacy("billing", "a", "", {.ttl = 1ms});
  ASSERT_FALSE(terms);
  EXPECT_EQ(terms.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::recipes
