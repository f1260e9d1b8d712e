// The seven rules of the store, one by one.

#include <algorithm>
#include <thread>

#include "tests/contract/store_contract.h"

namespace holdfast::contract {
namespace {

using StoreRules = StoreContractTest;
HOLDFAST_STORE_CONTRACT(StoreRules);

// Rule 1: a write of the old holder that was still on its way does not land between the new
// holder's read and its write.
TEST_P(StoreRules, OpenBeforeReadLocksOutTheWriteOnItsWay) {
  Resource old_one = open("r", holder(1));
  ASSERT_TRUE(old_one.write("0"));
  Resource new_one = open("r", holder(2));
  EXPECT_EQ((*new_one.read())->value, "0");
  const auto late = old_one.write("late");
  ASSERT_EQ(code_of(late), Errc::stale_token);
  EXPECT_EQ(late.error().yours, Token{1});
  EXPECT_EQ(late.error().highest, Token{2});
  EXPECT_NE(late.error().message.find('1'), std::string::npos);
  EXPECT_NE(late.error().message.find('2'), std::string::npos);
  EXPECT_FALSE(late.error().remedy().empty());
  EXPECT_TRUE(new_one.write("1"));
  EXPECT_EQ(peek("r"), "1");
  EXPECT_EQ(code_of(old_one.read()), Errc::stale_token);
  EXPECT_EQ(code_of(old_one.erase()), Errc::stale_token);
  EXPECT_EQ(code_of(store().open("r", holder(1))), Errc::stale_token);
}

// Rule 2.
TEST_P(StoreRules, OperationsAreNumberedAndOpenTellsTheLast) {
  Resource resource = open("r", holder(1));
  EXPECT_EQ(resource.sequence(), 0U);
  EXPECT_EQ(resource.write("a")->sequence, 1U);
  EXPECT_EQ(resource.write("b")->sequence, 2U);
  EXPECT_EQ(open("r", holder(1)).sequence(), 2U);
  const auto entry = resource.read();
  EXPECT_EQ((*entry)->token, Token{1});
  EXPECT_EQ((*entry)->sequence, 2U);
}

TEST_P(StoreRules, AnEntryTellsWhoWroteItAlsoAfterANewerOpen) {
  Resource writer = open("r", holder(1));
  ASSERT_TRUE(writer.write("a"));
  ASSERT_TRUE(writer.write("b"));
  const auto entry = open("r", holder(2)).read();
  EXPECT_EQ((*entry)->token, Token{1});
  EXPECT_EQ((*entry)->sequence, 2U);
}

// Rule 2: a handle that did not get the answer is at the sequence of before.
TEST_P(StoreRules, RepeatingTheLastOperationExactlyIsADuplicate) {
  Resource resource = open("r", holder(1));
  Resource without_answer = open("r", holder(1));
  const auto first = resource.write("a");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->applied, Applied::applied);
  const auto again = without_answer.write("a");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->applied, Applied::duplicate);
  EXPECT_EQ(again->version, first->version);
  EXPECT_EQ(again->sequence, 1U);
  EXPECT_TRUE(without_answer.write("b"));
}

TEST_P(StoreRules, AnotherOperationWithAUsedSequenceIsRefused) {
  Resource resource = open("r", holder(1));
  Resource twin = open("r", holder(1));
  ASSERT_TRUE(resource.write("a"));
  EXPECT_EQ(code_of(twin.write("b")), Errc::invalid_argument);
  EXPECT_EQ(code_of(twin.erase()), Errc::invalid_argument);
  EXPECT_EQ(peek("r"), "a");
}

TEST_P(StoreRules, AnOlderOperationIsRefused) {
  Resource resource = open("r", holder(1));
  Resource delayed = open("r", holder(1));
  ASSERT_TRUE(resource.write("a"));
  ASSERT_TRUE(resource.write("b"));
  EXPECT_EQ(code_of(delayed.write("a")), Errc::stale_token);
  EXPECT_EQ(peek("r"), "b");
}

TEST_P(StoreRules, ARepeatedEraseIsADuplicate) {
  Resource resource = open("r", holder(1));
  ASSERT_TRUE(resource.write("a"));
  Resource twin = open("r", holder(1));
  ASSERT_TRUE(resource.erase());
  const auto again = twin.erase();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->applied, Applied::duplicate);
  EXPECT_FALSE(peek("r"));
}

// Rule 3.
TEST_P(StoreRules, TheSameTokenOfAnotherOwnerIsRefused) {
  Resource mine = open("r", holder(5));
  ASSERT_TRUE(mine.write("a"));
  EXPECT_EQ(code_of(store().open("r", holder(5, Mode::exclusive, "another"))), Errc::stale_token);
  EXPECT_EQ(code_of(store().open("r", holder(5, Mode::shared, "another"))), Errc::stale_token);
  EXPECT_EQ(code_of(store().check("r", holder(5, Mode::exclusive, "another"))), Errc::stale_token);
  EXPECT_TRUE(mine.write("b"));
}

// Rule 4.
TEST_P(StoreRules, ReadersDoNotLockEachOtherOut) {
  ASSERT_TRUE(open("r", holder(1)).write("a"));
  Resource late = open("r", holder(3, Mode::shared));
  Resource early = open("r", holder(2, Mode::shared));
  EXPECT_EQ((*early.read())->value, "a");
  EXPECT_EQ((*late.read())->value, "a");
  EXPECT_EQ(code_of(late.write("b")), Errc::invalid_argument);
}

TEST_P(StoreRules, AReaderLocksOutTheWriterBeforeIt) {
  Resource writer = open("r", holder(1));
  ASSERT_TRUE(writer.write("a"));
  Resource reader = open("r", holder(2, Mode::shared));
  EXPECT_EQ((*reader.read())->value, "a");
  EXPECT_EQ(code_of(writer.write("late")), Errc::stale_token);
  EXPECT_EQ((*reader.read())->value, "a");
}

TEST_P(StoreRules, AWriterLocksOutTheReadersBeforeIt) {
  Resource reader = open("r", holder(1, Mode::shared));
  Resource writer = open("r", holder(2));
  EXPECT_EQ(code_of(reader.read()), Errc::stale_token);
  EXPECT_TRUE(writer.write("a"));
}

TEST_P(StoreRules, PermitsAreNotFenced) {
  EXPECT_EQ(code_of(store().open("r", holder(1, Mode::permit))), Errc::invalid_argument);
}

// Rule 5.
TEST_P(StoreRules, AnotherLockIsTheWrongDomainUntilItIsRebased) {
  Resource before = open("r", holder(7));
  ASSERT_TRUE(before.write("a"));
  Sequencer other = holder(3);
  other.name = "y";
  const auto refused = store().open("r", other);
  ASSERT_EQ(code_of(refused), Errc::wrong_domain);
  EXPECT_NE(refused.error().message.find("#"), std::string::npos);

  Client mover = operator_client();
  Store moves = mover.store().value();
  ASSERT_TRUE(moves.rebase("r", client().domain(), "y", "moved to the new lock"));
  EXPECT_EQ(code_of(before.write("late")), Errc::wrong_domain);
  Resource after = open("r", other);
  EXPECT_EQ((*after.read())->value, "a");
  EXPECT_TRUE(after.write("b"));
  EXPECT_EQ(code_of(moves.rebase("nothing", client().domain(), "y", "")), Errc::not_found);
}

TEST_P(StoreRules, AFencedResourceIsNotChangedWithoutAToken) {
  ASSERT_TRUE(open("r", holder(1)).write("a"));
  EXPECT_EQ(code_of(store().put("r", "b")), Errc::wrong_domain);
  EXPECT_EQ(code_of(store().erase("r")), Errc::wrong_domain);
  const auto version = (*store().get("r"))->version;
  EXPECT_EQ(code_of(store().put("r", "b", {.if_version = version})), Errc::wrong_domain);
  EXPECT_EQ(code_of(store().put("r", "b", {.if_version = Version::absent()})), Errc::wrong_domain);
  EXPECT_EQ(peek("r"), "a");
}

TEST_P(StoreRules, AnErasedResourceKeepsItsMarks) {
  Resource resource = open("r", holder(5));
  ASSERT_TRUE(resource.write("a"));
  ASSERT_TRUE(resource.erase());
  EXPECT_FALSE(*resource.read());
  EXPECT_EQ(code_of(store().open("r", holder(4))), Errc::stale_token);
  EXPECT_EQ(code_of(store().put("r", "b")), Errc::wrong_domain);
  EXPECT_TRUE(resource.write("c"));
}

TEST_P(StoreRules, AValueBecomesFencedByItsFirstOpen) {
  ASSERT_TRUE(store().put("r", "before"));
  Resource resource = open("r", holder(1));
  EXPECT_EQ((*resource.read())->value, "before");
  EXPECT_EQ(code_of(store().put("r", "b")), Errc::wrong_domain);
  EXPECT_TRUE(resource.write("after"));
}

// Rule 6.
TEST_P(StoreRules, StrictAllowsOneWritePerToken) {
  Resource one = open("r", holder(1), {.policy = WritePolicy::strict});
  ASSERT_TRUE(one.write("a"));
  EXPECT_EQ(code_of(one.write("b")), Errc::stale_token);
  EXPECT_EQ(code_of(one.erase()), Errc::stale_token);
  EXPECT_TRUE(one.read());
  EXPECT_TRUE(open("r", holder(2)).write("c"));
  EXPECT_EQ(code_of(store().open("r", holder(3), {.policy = WritePolicy::many})),
            Errc::invalid_argument);
}

// Rule 7: the check of a resource that lives elsewhere, made inside that resource's own lock.
TEST_P(StoreRules, CheckRefusesWhoWasOvertaken) {
  EXPECT_TRUE(store().check("elsewhere", holder(1)));
  EXPECT_TRUE(store().check("elsewhere", holder(1)));
  EXPECT_TRUE(store().check("elsewhere", holder(2)));
  EXPECT_EQ(code_of(store().check("elsewhere", holder(1))), Errc::stale_token);
}

TEST_P(StoreRules, TokensOutOfRangeAreRefused) {
  for (const std::uint64_t token : {std::uint64_t{0}, Token::kMax + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(code_of(store().open("r", holder(token))), Errc::invalid_argument) << token;
  }
  EXPECT_TRUE(store().open("r", holder(Token::kMax)));
}

TEST_P(StoreRules, RealLeasesOpenInTheirOrder) {
  auto first = client().acquire("x", {.ttl = 1s});
  ASSERT_TRUE(first);
  auto old_one = store().open("r", *first);
  ASSERT_TRUE(old_one) << old_one.error().message;
  ASSERT_TRUE(old_one->write("a"));
  ASSERT_EQ(first->release(), ReleaseOutcome::released);
  auto second = reconnect().acquire("x");
  ASSERT_TRUE(second);
  ASSERT_TRUE(reconnect().store()->open("r", *second));
  EXPECT_EQ(code_of(old_one->write("late")), Errc::stale_token);
}

TEST_P(StoreRules, OneOperationAtATimePerHandle) {
  Resource resource = open("r", holder(1));
  std::vector<std::thread> threads;
  std::atomic<int> applied{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        const auto receipt = resource.write(std::to_string(i * 10 + round));
        if (receipt && receipt->applied == Applied::applied) ++applied;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, 80);
  EXPECT_EQ(resource.sequence(), 80U);
}

// Whatever order the requests of many holders arrive in, the operations done under one token are
// one block: none is done after one of a newer token.
TEST_P(StoreRules, OperationsOfATokenAreContiguous) {
  constexpr std::uint64_t kHolders = 6;
  std::mutex guard;
  std::vector<std::pair<Version, std::uint64_t>> done;
  std::vector<std::thread> threads;
  for (std::uint64_t token = 1; token <= kHolders; ++token) {
    threads.emplace_back([&, token] {
      for (int round = 0; round < 20; ++round) {
        auto opened = store().open("r", holder(token));
        if (!opened) return;
        const auto receipt = opened->write(std::to_string(token) + "/" + std::to_string(round));
        if (!receipt) return;
        const std::lock_guard lock{guard};
        done.emplace_back(receipt->version, token);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::ranges::sort(done);
  EXPECT_FALSE(done.empty());
  for (std::size_t i = 1; i < done.size(); ++i) {
    EXPECT_LE(done[i - 1].second, done[i].second);
    EXPECT_LT(done[i - 1].first, done[i].first);
  }
  EXPECT_EQ(done.back().second, kHolders);
}

}  // namespace
}  // namespace holdfast::contract
