// A name's token rises with every grant, whatever ended the last one.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using TokenContract = ContractTest;
HOLDFAST_CONTRACT(TokenContract);

TEST_P(TokenContract, RisesAcrossRelease) {
  Token last{0};
  for (int i = 0; i < 100; ++i) {
    const Token token = next_token("x");
    ASSERT_GT(token, last);
    ASSERT_LE(token.value(), Token::kMax);
    last = token;
  }
}

TEST_P(TokenContract, RisesAcrossProcesses) {
  auto a = actor();
  auto b = actor();
  Token last{0};
  for (int i = 0; i < 20; ++i) {
    Actor& one = i % 2 == 0 ? *a : *b;
    const Answer answer = one.acquire("lease", "x");
    ASSERT_TRUE(answer.granted()) << answer.message;
    ASSERT_GT(answer.token, last);
    last = answer.token;
    ASSERT_EQ(one.release("lease"), "released");
  }
}

TEST_P(TokenContract, RisesAcrossExpiry) {
  auto a = actor();
  const Answer first = a->acquire("lease", "x", {.ttl = 200ms});
  ASSERT_TRUE(first.granted());
  a->pause();
  EXPECT_GT(next_token("x"), first.token);
}

TEST_P(TokenContract, RisesAcrossACrash) {
  auto a = actor();
  const Answer first = a->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying});
  ASSERT_TRUE(first.granted());
  a->kill();
  EXPECT_GT(next_token("x"), first.token);
}

TEST_P(TokenContract, RisesAcrossRestart) {
  auto a = actor();
  const Answer first = a->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying});
  ASSERT_TRUE(first.granted());
  a->quit();
  auto b = actor();
  const Answer second = b->acquire("lease", "x");
  ASSERT_TRUE(second.granted()) << second.message;
  EXPECT_GT(second.token, first.token);
}

TEST_P(TokenContract, RisesWhenOtherNamesComeBetween) {
  const Token first = next_token("x");
  for (int i = 0; i < 1000; ++i) next_token("other-" + std::to_string(i));
  EXPECT_GT(next_token("x"), first);
}

TEST_P(TokenContract, EveryGrantHasItsOwnOwner) {
  auto first = client().acquire("x");
  auto second = client().acquire("y");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->owner(), second->owner());
  EXPECT_NE(first->owner().fingerprint(), second->owner().fingerprint());
}

}  // namespace
}  // namespace holdfast::contract
