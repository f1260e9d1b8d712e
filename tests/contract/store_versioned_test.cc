// Compare-and-swap: values with versions, and updates that lose nothing.

#include <set>

#include "tests/contract/store_contract.h"

namespace holdfast::contract {
namespace {

using StoreVersioned = StoreContractTest;
HOLDFAST_STORE_CONTRACT(StoreVersioned);

TEST_P(StoreVersioned, WhatIsPutIsFound) {
  EXPECT_FALSE(*store().get("k"));
  const std::string bytes{"\0\xff\n and text", 12};
  const auto version = store().put("k", bytes);
  ASSERT_TRUE(version) << version.error().message;
  const auto entry = store().get("k");
  EXPECT_EQ((*entry)->value, bytes);
  EXPECT_EQ((*entry)->version, *version);
  EXPECT_FALSE((*entry)->token);
  ASSERT_TRUE(store().put("empty", ""));
  EXPECT_EQ(peek("empty"), "");
  EXPECT_EQ(reconnect().store()->get("k").value()->value, bytes);
}

TEST_P(StoreVersioned, PutWithAVersionIsRefusedWhenItMoved) {
  const auto first = store().put("k", "a", {.if_version = Version::absent()});
  ASSERT_TRUE(first);
  const auto second = store().put("k", "b", {.if_version = *first});
  ASSERT_TRUE(second);
  EXPECT_GT(*second, *first);
  const auto refused = store().put("k", "c", {.if_version = *first});
  ASSERT_EQ(code_of(refused), Errc::version_conflict);
  EXPECT_EQ(refused.error().actual, *second);
  const auto exists = store().put("k", "c", {.if_version = Version::absent()});
  ASSERT_EQ(code_of(exists), Errc::version_conflict);
  EXPECT_EQ(exists.error().actual, *second);
  const auto missing = store().put("nothing", "c", {.if_version = Version{7}});
  ASSERT_EQ(code_of(missing), Errc::version_conflict);
  EXPECT_EQ(missing.error().actual, Version::absent());
  EXPECT_EQ(peek("k"), "b");
  EXPECT_FALSE(peek("nothing"));
}

TEST_P(StoreVersioned, EraseWithAVersion) {
  const auto version = store().put("k", "a");
  ASSERT_TRUE(version);
  EXPECT_EQ(code_of(store().erase("k", {.if_version = Version{version->value() + 1}})),
            Errc::version_conflict);
  EXPECT_EQ(peek("k"), "a");
  EXPECT_TRUE(*store().erase("k", {.if_version = *version}));
  EXPECT_FALSE(peek("k"));
  EXPECT_FALSE(*store().erase("k"));
}

TEST_P(StoreVersioned, AVersionNeverComesBack) {
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 5; ++round) {
    const auto made = store().put("k", "a", {.if_version = Version::absent()});
    ASSERT_TRUE(made);
    EXPECT_TRUE(seen.insert(made->value()).second) << made->value();
    const auto changed = store().put("k", "b");
    EXPECT_TRUE(seen.insert(changed->value()).second) << changed->value();
    ASSERT_TRUE(*store().erase("k"));
  }
}

TEST_P(StoreVersioned, KeysAndValuesAtAndBeyondTheirLimits) {
  const std::string longest(kNameBytesMax - 20, 'k');
  EXPECT_TRUE(store().put(longest, "a"));
  EXPECT_EQ(peek(longest), "a");
  for (const std::string& bad : {std::string{}, std::string(513, 'k'), std::string{"a\nb"}}) {
    EXPECT_EQ(code_of(store().put(bad, "a")), Errc::invalid_argument);
    EXPECT_EQ(code_of(store().get(bad)), Errc::invalid_argument);
    EXPECT_EQ(code_of(store().open(bad, holder(1))), Errc::invalid_argument);
  }
  const std::string largest(GetParam().value_bytes_max, 'v');
  EXPECT_TRUE(store().put("large", largest));
  EXPECT_EQ(peek("large"), largest);
  EXPECT_EQ(code_of(store().put("large", largest + "v")), Errc::invalid_argument);
  EXPECT_EQ(peek("large"), largest);
  Resource resource = open("fenced", holder(1));
  EXPECT_TRUE(resource.write(largest));
  EXPECT_EQ(code_of(resource.write(largest + "v")), Errc::invalid_argument);
  EXPECT_EQ((*resource.read())->value, largest);
}

TEST_P(StoreVersioned, KeysAreIndependent) {
  for (const char* key : {"a", "a/b", "A", "a b", "a%2Fb", "ä", "a/"}) {
    ASSERT_TRUE(store().put(key, key));
  }
  for (const char* key : {"a", "a/b", "A", "a b", "a%2Fb", "ä", "a/"}) EXPECT_EQ(peek(key), key);
}

TEST_P(StoreVersioned, UpdateOfSixteenWritersLosesNothing) {
  constexpr int kWriters = 16;
  constexpr int kRounds = 25;
  std::vector<std::unique_ptr<Actor>> actors;
  for (int i = 0; i < kWriters; ++i) actors.push_back(actor());
  std::vector<std::future<Fields>> replies;
  for (auto& one : actors) replies.push_back(one->send({"update", "k", std::to_string(kRounds)}));
  for (auto& reply : replies) {
    ASSERT_EQ(reply.wait_for(4 * kPatience), std::future_status::ready);
    EXPECT_EQ(reply.get().at(0), "done");
  }
  EXPECT_EQ(read_counter(store(), "k"), std::uint64_t{kWriters * kRounds});
}

TEST_P(StoreVersioned, UpdateGivesUpAfterTheLastAttempt) {
  ASSERT_TRUE(store().put("k", "0"));
  int calls = 0;
  const auto interfering = [&](const Entry*) {
    ++calls;
    EXPECT_TRUE(store().put("k", std::to_string(calls)));
    return std::optional<std::string>{"mine"};
  };
  const auto report = store().update("k", interfering, {.attempts = 3});
  ASSERT_EQ(code_of(report), Errc::too_many_conflicts);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(peek("k"), "3");
  EXPECT_EQ(code_of(store().update("k", interfering, {.attempts = 0})), Errc::invalid_argument);
}

TEST_P(StoreVersioned, UpdateCountsItsConflicts) {
  int calls = 0;
  const auto report = store().update("k", [&](const Entry* old) {
    if (++calls <= 2) {
      EXPECT_TRUE(store().put("k", "theirs"));
    }
    return std::optional<std::string>{old == nullptr ? "first" : old->value + "+"};
  });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->conflicts, 2U);
  EXPECT_EQ(peek("k"), "theirs+");
  EXPECT_EQ((*store().get("k"))->version, report->version);
}

TEST_P(StoreVersioned, UpdateMayLeaveTheKeyAlone) {
  ASSERT_TRUE(store().put("k", "a"));
  const auto report =
      store().update("k", [](const Entry*) { return std::optional<std::string>{}; });
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->version);
  EXPECT_EQ(peek("k"), "a");
}

TEST_P(StoreVersioned, UpdateStopsWhenAsked) {
  std::stop_source stop;
  const auto report = store().update(
      "k",
      [&](const Entry*) {
        EXPECT_TRUE(store().put("k", "theirs"));
        stop.request_stop();
        return std::optional<std::string>{"mine"};
      },
      {},
      stop.get_token());
  EXPECT_EQ(code_of(report), Errc::cancelled);
  EXPECT_EQ(peek("k"), "theirs");
}

}  // namespace
}  // namespace holdfast::contract
