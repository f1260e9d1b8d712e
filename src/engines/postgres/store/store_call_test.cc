#include "engines/postgres/store/store_call.h"

#include <gtest/gtest.h>

namespace holdfast::postgres {
namespace {

using core::Attempt;
using Args = std::vector<Value>;

const StoreTicket kTicket{.id = 17, .timeout = Millis{1000}, .who = "ann"};
const core::Holder kHolder{
    .domain = "postgres:a#x", .mode = Mode::exclusive, .token = Token{34}, .owner_fp = "f00d"};

Call call_of(StoreRequest request, Attempt attempt = Attempt::first) {
  return to_call(request, "hf/", kTicket, attempt);
}

TEST(PostgresStoreCallTest, AKeyIsOfItsSpaceAndBeginsWithThePrefix) {
  EXPECT_EQ(call_of({.key = "k", .operation = GetKey{}}).args, (Args{"value", "hf/k"}));
  EXPECT_EQ(call_of({.space = Space::once, .key = "k", .operation = GetKey{}}).args,
            (Args{"once", "hf/k"}));
}

TEST(PostgresStoreCallTest, AHolderIsSentWhole) {
  const WriteResource write{.holder = kHolder,
                            .opened = core::Opened::before,
                            .sequence = 5,
                            .value = std::string{"a\0b", 3},
                            .keep = Millis{20}};
  EXPECT_EQ(call_of({.key = "k", .operation = write}).args,
            (Args{"value",
                  "hf/k",
                  "postgres:a#x",
                  "exclusive",
                  "34",
                  "f00d",
                  "\\x610062",
                  "5",
                  "t",
                  "20",
                  "17",
                  std::nullopt}));
}

TEST(PostgresStoreCallTest, WhatIsLeftOutIsNull) {
  const WriteResource erase{.holder = kHolder};
  const auto args = call_of({.key = "k", .operation = erase}).args;
  EXPECT_EQ(Args(args.begin() + 6, args.end()),
            (Args{std::nullopt, std::nullopt, "f", std::nullopt, "17", std::nullopt}));
  const OpenResource open{.holder = kHolder, .options = {.policy = WritePolicy::strict}};
  EXPECT_EQ(call_of({.key = "k", .operation = open}).args.back(), "strict");
}

TEST(PostgresStoreCallTest, AnEmptyValueIsNoErase) {
  const auto put = call_of({.key = "k", .operation = PutKey{}});
  const auto erase = call_of({.key = "k", .operation = EraseKey{}});
  EXPECT_EQ(put.statement, erase.statement);
  EXPECT_EQ(put.args[2], "\\x");
  EXPECT_EQ(erase.args[2], std::nullopt);
}

TEST(PostgresStoreCallTest, AnAbsentVersionIsNotNone) {
  const EraseKey erase{.if_version = Version::absent()};
  EXPECT_EQ(call_of({.key = "k", .operation = erase}).args[3], "0");
}

TEST(PostgresStoreCallTest, ARepetitionHasTheSameIdAndItsAge) {
  const StoreRequest put{.key = "k", .operation = PutKey{.value = "v"}};
  const auto first = call_of(put).args;
  const auto again = call_of(put, Attempt::repeated).args;
  EXPECT_EQ(first[4], again[4]);
  EXPECT_EQ(first[5], std::nullopt);
  EXPECT_EQ(again[5], "2000000");
}

TEST(PostgresStoreCallTest, EveryIdIsANumberWithASign) {
  const StoreTicket largest{.id = ~std::uint64_t{0}, .timeout = Millis{1}, .who = {}};
  const StoreRequest put{.key = "k", .operation = PutKey{}};
  EXPECT_EQ(to_call(put, "", largest, Attempt::first).args[4], "9223372036854775807");
}

TEST(PostgresStoreCallTest, ARebaseSaysWhoAndWhy) {
  const RebaseResource rebase{.domain = "new#y", .why = "moved"};
  EXPECT_EQ(call_of({.key = "k", .operation = rebase}).args,
            (Args{"value", "hf/k", "new#y", "moved", "ann", "17"}));
}

}  // namespace
}  // namespace holdfast::postgres
