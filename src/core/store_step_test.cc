#include "core/store_step.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using Content = StoreMark::Content;
using Depth = StoreSight::Depth;

const StoreTicket kTicket{.id = "mine", .who = "the tests"};

Holder holder(std::uint64_t token, Mode mode = Mode::exclusive) {
  return {.domain = "engine:a#x",
          .mode = mode,
          .token = Token{token},
          .owner_fp = "owner-" + std::to_string(token)};
}

StoreRequest open(std::uint64_t token) {
  return {.key = "k", .operation = OpenResource{.holder = holder(token)}};
}

StoreRequest read(std::uint64_t token) {
  return {.key = "k", .operation = ReadResource{.holder = holder(token)}};
}

StoreRequest write(std::uint64_t token, std::uint64_t sequence, std::string value) {
  WriteResource write{.holder = holder(token), .sequence = sequence, .value = std::move(value)};
  return {.key = "k", .operation = std::move(write)};
}

StoreRequest put(std::optional<Version> if_version = std::nullopt) {
  return {.key = "k", .operation = PutKey{.value = "v", .if_version = if_version}};
}

StoreRequest erase() { return {.key = "k", .operation = EraseKey{}}; }

StoreSight nothing_there() { return {.depth = Depth::all, .revision = 100}; }

/// What is there after the change.
StoreSight after(const StoreSight& before, const StoreStep& step, std::string value = "") {
  StoreSight sight{.depth = Depth::all, .mark = step.change->mark};
  sight.text = to_text(step.change->mark);
  sight.revision = before.revision + 1;
  if (step.change->stay != Stay::for_good) sight.fate = StoreSight::Fate::passes;
  sight.has_value = step.change->value == StoreChange::Value::is_put ||
                    (step.change->value == StoreChange::Value::stays && before.has_value);
  sight.value = std::move(value);
  return sight;
}

StoreSight done(const StoreSight& before, const StoreRequest& request, std::string value = "") {
  static int number = 0;
  const auto step = decide(request, before, {.id = "earlier " + std::to_string(++number)});
  EXPECT_TRUE(step) << step.error().message;
  return after(before, *step, std::move(value));
}

Errc refusal(const StoreRequest& request, const StoreSight& sight) {
  const auto step = decide(request, sight, kTicket);
  return step ? Errc{} : step.error().code;
}

TEST(StoreStepTest, AVersionIsAboveEverythingTheKeyHasHad) {
  const auto first = decide(put(), nothing_there(), kTicket);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->reply.version, Version{101});
  StoreSight sight = after(nothing_there(), *first);
  // A restored cluster counts from further back.
  sight.revision = 3;
  EXPECT_EQ(decide(put(), sight, {.id = "next"})->reply.version, Version{102});
}

TEST(StoreStepTest, APutIsConditionalOnItsVersion) {
  const StoreSight sight = done(nothing_there(), put());
  EXPECT_EQ(refusal(put(Version{101}), sight), Errc{});
  EXPECT_EQ(refusal(put(Version{100}), sight), Errc::version_conflict);
  EXPECT_EQ(refusal(put(Version::absent()), sight), Errc::version_conflict);
  EXPECT_EQ(refusal(put(Version::absent()), nothing_there()), Errc{});
}

TEST(StoreStepTest, AnErasedKeyIsRememberedForAWhile) {
  const StoreSight sight = done(nothing_there(), put());
  const auto step = decide(erase(), sight, kTicket);
  ASSERT_TRUE(step && step->change);
  EXPECT_EQ(step->change->stay, Stay::a_while);
  EXPECT_EQ(step->change->value, StoreChange::Value::goes);
  const StoreSight erased = after(sight, *step);
  EXPECT_FALSE(decide(erase(), erased, {.id = "another"})->change);
  EXPECT_FALSE(decide({.key = "k", .operation = GetKey{}}, erased, kTicket)->reply.entry);
  EXPECT_EQ(decide(put(), erased, {.id = "another"})->change->stay, Stay::for_good);
}

TEST(StoreStepTest, WhatWasDoneUnderTheIdIsNotDoneAgain) {
  const auto first = decide(put(), nothing_there(), kTicket);
  StoreSight sight = after(nothing_there(), *first);
  sight = done(sight, put(), "theirs");
  const auto again = decide(put(Version::absent()), sight, kTicket);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->change);
  EXPECT_EQ(again->reply.version, first->reply.version);
}

TEST(StoreStepTest, FourChangesLaterAnEarlierOneIsForgotten) {
  StoreSight sight = done(nothing_there(), put());
  const Version mine = next_version(sight);
  for (int i = 0; i < 3; ++i) sight = done(sight, put());
  EXPECT_TRUE(remembers(sight, mine));
  for (int i = 0; i < 2; ++i) sight = done(sight, put());
  EXPECT_FALSE(remembers(sight, mine));
  EXPECT_TRUE(remembers(nothing_there(), mine));
}

TEST(StoreStepTest, AHolderIsRegisteredWithTheKeyOfItsLock) {
  StoreSight sight = nothing_there();
  sight.contender = "hf/x/1-5";
  const StoreSight opened = done(sight, open(5));
  EXPECT_EQ(opened.mark->contender, "hf/x/1-5");
  StoreSight held = opened;
  held.contender = "hf/x/1-5";
  const auto step = decide(write(5, 1, "a"), held, kTicket);
  ASSERT_TRUE(step && step->change);
  EXPECT_EQ(step->change->contender, "hf/x/1-5");
  EXPECT_EQ(step->change->token, Token{5});
}

TEST(StoreStepTest, AWriteOfWhoHasLostTheLockIsStale) {
  StoreSight sight = nothing_there();
  sight.contender = "hf/x/1-5";
  StoreSight opened = done(sight, open(5));
  EXPECT_EQ(refusal(write(5, 1, "a"), opened), Errc::stale_token);
  // Reading harms nobody.
  EXPECT_EQ(refusal(read(5), opened), Errc{});
}

TEST(StoreStepTest, AHolderWhoseLockIsElsewhereIsFencedByItsTokenAlone) {
  const StoreSight opened = done(nothing_there(), open(5));
  const auto step = decide(write(5, 1, "a"), opened, kTicket);
  ASSERT_TRUE(step && step->change);
  EXPECT_TRUE(step->change->contender.empty());
  EXPECT_EQ(refusal(open(4), opened), Errc::stale_token);
}

TEST(StoreStepTest, ANewHolderTakesThePlaceOfTheOldOnesKey) {
  StoreSight sight = nothing_there();
  sight.contender = "hf/x/1-5";
  const StoreSight opened = done(sight, open(5));
  EXPECT_EQ(done(opened, open(6)).mark->contender, "");
  // A reader leaves the writer's alone.
  StoreRequest reader = open(7);
  std::get<OpenResource>(reader.operation).holder.mode = Mode::shared;
  EXPECT_EQ(done(opened, reader).mark->contender, "hf/x/1-5");
}

TEST(StoreStepTest, ARepetitionIsADuplicate) {
  const StoreSight written = done(nothing_there(), write(5, 1, "a"), "a");
  const auto again = decide(write(5, 1, "a"), written, kTicket);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->reply.applied, Applied::duplicate);
  EXPECT_FALSE(again->change);
  EXPECT_EQ(refusal(write(5, 1, "b"), written), Errc::invalid_argument);
}

TEST(StoreStepTest, AKeptValueTakesItsMarkAlong) {
  StoreRequest brief = write(5, 1, "a");
  std::get<WriteResource>(brief.operation).keep = Millis{500};
  const auto step = decide(brief, nothing_there(), kTicket);
  ASSERT_TRUE(step && step->change);
  EXPECT_EQ(step->change->stay, Stay::as_value);
  EXPECT_EQ(step->change->keep, Millis{500});
  const StoreSight kept = after(nothing_there(), *step, "a");
  EXPECT_EQ(decide(open(6), kept, {.id = "another"})->change->stay, Stay::as_before);
  StoreSight expired = kept;
  expired.has_value = false;
  const auto seen = decide(read(6), expired, {.id = "another"});
  EXPECT_FALSE(seen->reply.entry);
  EXPECT_EQ(seen->change->stay, Stay::for_good);
  const auto own = decide(read(5), expired, {.id = "another"});
  ASSERT_TRUE(own->change);
  EXPECT_EQ(own->change->stay, Stay::for_good);
}

TEST(StoreStepTest, ARebaseGoesOnRecord) {
  const StoreSight opened = done(nothing_there(), open(5));
  const StoreRequest rebase{.key = "k",
                            .operation = RebaseResource{.domain = "new#y", .why = "moved"}};
  const auto step = decide(rebase, opened, kTicket);
  ASSERT_TRUE(step && step->change);
  EXPECT_EQ(step->change->mark.fence->domain, "new#y");
  for (const char* part : {"engine:a#x", "new#y", "moved", "the tests", "highest: 5"}) {
    EXPECT_NE(step->change->record.find(part), std::string::npos) << part;
  }
  EXPECT_FALSE(decide(rebase, after(opened, *step), kTicket)->change);
  EXPECT_EQ(refusal(rebase, nothing_there()), Errc::not_found);
}

TEST(StoreStepTest, OnlyChangesAreDecidedByARememberedMark) {
  StoreSight known = done(nothing_there(), write(5, 1, "a"));
  known.depth = Depth::mark;
  EXPECT_TRUE(decides_by_mark(write(5, 2, "b"), known));
  EXPECT_FALSE(decides_by_mark(write(6, 1, "b"), known));
  EXPECT_FALSE(decides_by_mark(open(5), known));
  EXPECT_FALSE(decides_by_mark({.key = "k", .operation = GetKey{}}, known));
  EXPECT_FALSE(decides_by_mark(put(), StoreSight{}));
  StoreSight plain = done(nothing_there(), put());
  plain.depth = Depth::mark;
  EXPECT_TRUE(decides_by_mark(put(), plain));
  EXPECT_TRUE(decides_by_mark(erase(), plain));
  plain.mark->content = Content::fleeting_value;
  EXPECT_FALSE(decides_by_mark(erase(), plain));
}

}  // namespace
}  // namespace holdfast::core
