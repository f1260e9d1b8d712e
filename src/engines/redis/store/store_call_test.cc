#include "engines/redis/store/store_call.h"

#include <gtest/gtest.h>

#include "engines/redis/store/store_script.h"

namespace holdfast::redis {
namespace {

using core::Attempt;
using Words = std::vector<std::string>;

const StoreTicket kTicket{.id = "17", .timeout = Millis{1000}, .who = "ann"};
const core::Holder kHolder{
    .domain = "redis:a#x", .mode = Mode::exclusive, .token = Token{34}, .owner_fp = "f00d"};

ScriptCall call_of(StoreRequest request, Attempt attempt = Attempt::first) {
  return to_call(request, "hf:", kTicket, attempt);
}

TEST(StoreCallTest, EverythingOfAKeyIsInOneHash) {
  const auto call = call_of({.key = "k", .operation = GetKey{}});
  EXPECT_EQ(call.script, &kStoreScript);
  EXPECT_EQ(call.keys, (Words{"hf:\x01value:{k}"}));
  EXPECT_EQ(call.args, (Words{"get", "17", ""}));
  EXPECT_EQ(call_of({.space = Space::once, .key = "k", .operation = GetKey{}}).keys,
            (Words{"hf:\x01once:{k}"}));
}

TEST(StoreCallTest, AHolderIsSentWhole) {
  const WriteResource write{.holder = kHolder,
                            .opened = core::Opened::before,
                            .sequence = 5,
                            .value = std::string{"a\0b", 3},
                            .keep = Millis{20}};
  const auto call = call_of({.key = "k", .operation = write});
  EXPECT_EQ(call.args,
            (Words{"write",
                   "17",
                   "",
                   "redis:a#x",
                   "exclusive",
                   "34",
                   "f00d",
                   std::string{"a\0b", 3},
                   "5",
                   "before",
                   "20"}));
}

TEST(StoreCallTest, WhatIsLeftOutIsEmpty) {
  const WriteResource erase{.holder = kHolder};
  EXPECT_EQ(call_of({.key = "k", .operation = erase}).args,
            (Words{"remove", "17", "", "redis:a#x", "exclusive", "34", "f00d", "", "", ""}));
  EXPECT_EQ(call_of({.key = "k", .operation = PutKey{.value = "v"}}).args,
            (Words{"put", "17", "", "v", ""}));
  const OpenResource open{.holder = kHolder, .options = {.policy = WritePolicy::strict}};
  EXPECT_EQ(call_of({.key = "k", .operation = open}).args.back(), "strict");
}

TEST(StoreCallTest, AnAbsentVersionIsNotNone) {
  const EraseKey erase{.if_version = Version::absent()};
  EXPECT_EQ(call_of({.key = "k", .operation = erase}).args.back(), "0");
}

TEST(StoreCallTest, ARepetitionHasTheSameIdAndItsAge) {
  const auto call = call_of({.key = "k", .operation = GetKey{}}, Attempt::repeated);
  EXPECT_EQ(call.args, (Words{"get", "17", "2000000"}));
}

TEST(StoreCallTest, ARebaseNamesItsRecordInTheSameSlot) {
  const RebaseResource rebase{.domain = "new#y", .why = "moved"};
  const auto call = call_of({.key = "k", .operation = rebase});
  EXPECT_EQ(call.keys,
            (Words{"hf:\x01value:{k}",
                   "hf:\x01"
                   "audit:value:{k}"}));
  EXPECT_EQ(call.args, (Words{"rebase", "17", "", "new#y", "moved", "ann"}));
}

}  // namespace
}  // namespace holdfast::redis
