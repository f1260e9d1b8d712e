// What is forgotten, when, and what must not be.

#include "engines/redis/store/store_call.h"
#include "tests/redis_store/store_bed.h"

namespace holdfast::redis_store {
namespace {

constexpr std::int64_t kForever = -1;
constexpr std::int64_t kMemoryMs = 10 * 60 * 1000;

class ExpiryTest : public StoreBed {
 protected:
  /// A result as once() keeps it.
  static StoreRequest keep(std::uint64_t token, Millis time, std::optional<std::string> value) {
    return {.space = Space::once,
            .key = "k",
            .operation = WriteResource{
                .holder = holder(token), .sequence = 1, .value = std::move(value), .keep = time}};
  }

  /// Waits until the result is not there any more. Whether it came to that.
  bool expires() {
    const StoreRequest look{.space = Space::once, .key = "k", .operation = GetKey{}};
    const TimePoint end = BootClock::now() + std::chrono::seconds{20};
    while (other(look)->entry) {
      if (BootClock::now() > end) return false;
    }
    return true;
  }

  std::int64_t ttl_ms(Space space) {
    return command({"PTTL", redis::store_key(kPrefix, space, "k")}).integer;
  }
};

TEST_F(ExpiryTest, AResultIsForgottenSomeTimeAfterItExpired) {
  ASSERT_TRUE(store().perform(keep(5, Millis{1}, "result")));
  ASSERT_TRUE(expires());
  const std::int64_t left = ttl_ms(Space::once);
  EXPECT_GT(left, 0);
  EXPECT_LE(left, kMemoryMs);
  // Until then whoever is older stays locked out.
  EXPECT_EQ(code_of(open(4, Space::once)), Errc::stale_token);
}

TEST_F(ExpiryTest, AResultLastsAsLongAsItWasToldTo) {
  ASSERT_TRUE(store().perform(keep(5, Millis{3'600'000}, "result")));
  EXPECT_GT(ttl_ms(Space::once), 3'600'000);
  ASSERT_TRUE(store().perform(open(6, Space::once)));
  EXPECT_EQ(store().perform(read(6, Space::once))->entry->value, "result");
  EXPECT_GT(ttl_ms(Space::once), 3'600'000);
}

TEST_F(ExpiryTest, ItIsNotForgottenUnderItsNextHolder) {
  ASSERT_TRUE(store().perform(keep(1, Millis{1}, "result")));
  ASSERT_TRUE(expires());
  ASSERT_TRUE(store().perform(open(2, Space::once)));
  EXPECT_EQ(ttl_ms(Space::once), kForever);
  EXPECT_FALSE(store().perform(read(2, Space::once))->entry);
  EXPECT_TRUE(store().perform(keep(2, Millis{60'000}, "again")));
  EXPECT_GT(ttl_ms(Space::once), 60'000);
}

// It may expire after the open: what counts is what the holder has read.
TEST_F(ExpiryTest, WhatExpiresBetweenOpenAndReadIsNotForgotten) {
  ASSERT_TRUE(store().perform(keep(1, Millis{100}, "result")));
  ASSERT_TRUE(store().perform(open(2, Space::once)));
  ASSERT_TRUE(expires());
  ASSERT_FALSE(store().perform(read(2, Space::once))->entry);
  EXPECT_EQ(ttl_ms(Space::once), kForever);
}

TEST_F(ExpiryTest, WhatWasErasedForAWhileIsNotForgottenUnderItsNextHolder) {
  ASSERT_TRUE(store().perform(keep(1, Millis{50}, std::nullopt)));
  EXPECT_GT(ttl_ms(Space::once), 0);
  ASSERT_TRUE(store().perform(open(2, Space::once)));
  EXPECT_EQ(ttl_ms(Space::once), kForever);
}

TEST_F(ExpiryTest, AWriteThatLastsEndsTheExpiry) {
  ASSERT_TRUE(store().perform(keep(1, Millis{60'000}, "result")));
  StoreRequest lasting = keep(1, Millis{0}, "lasting");
  std::get<WriteResource>(lasting.operation).keep.reset();
  std::get<WriteResource>(lasting.operation).sequence = 2;
  ASSERT_TRUE(store().perform(lasting));
  EXPECT_EQ(ttl_ms(Space::once), kForever);
}

TEST_F(ExpiryTest, AHolderOfWhatWasForgottenIsRefused) {
  ASSERT_TRUE(store().perform(keep(1, Millis{60'000}, "result")));
  command({"DEL", redis::store_key(kPrefix, Space::once, "k")});
  EXPECT_EQ(code_of(read(1, Space::once)), Errc::stale_token);
  StoreRequest late = keep(1, Millis{60'000}, "late");
  std::get<WriteResource>(late.operation).opened = core::Opened::before;
  EXPECT_EQ(code_of(late), Errc::stale_token);
}

TEST_F(ExpiryTest, AnErasedKeyIsForgottenAndComesBackWithAHigherVersion) {
  const auto first = store().perform(put("a"));
  ASSERT_TRUE(store().perform(erase())->changed);
  EXPECT_FALSE(store().perform(erase())->changed);
  const std::int64_t left = ttl_ms(Space::values);
  EXPECT_GT(left, 0);
  EXPECT_LE(left, kMemoryMs);
  const auto again = store().perform(put("b", Version::absent()));
  ASSERT_TRUE(again);
  EXPECT_GT(again->version, first->version);
  EXPECT_EQ(ttl_ms(Space::values), kForever);
  ASSERT_TRUE(store().perform(erase()));
  command({"DEL", redis::store_key(kPrefix, Space::values, "k")});
  EXPECT_GT(store().perform(put("c"))->version, again->version);
}

TEST_F(ExpiryTest, AFenceOnAnErasedKeyIsNotForgotten) {
  ASSERT_TRUE(store().perform(put("a")));
  ASSERT_TRUE(store().perform(erase()));
  ASSERT_TRUE(store().perform(open(5)));
  EXPECT_EQ(ttl_ms(Space::values), kForever);
  StoreRequest gone = write(5, 1, "");
  std::get<WriteResource>(gone.operation).value.reset();
  ASSERT_TRUE(store().perform(gone));
  EXPECT_EQ(ttl_ms(Space::values), kForever);
}

TEST_F(ExpiryTest, VersionsRiseAlsoWhenTheClockWentBack) {
  const auto first = store().perform(put("a"));
  const std::uint64_t ahead = first->version.value() + 3'600'000'000;
  command(
      {"HSET", redis::store_key(kPrefix, Space::values, "k"), "version", std::to_string(ahead)});
  EXPECT_EQ(store().perform(put("b"))->version, Version{ahead + 1});
  EXPECT_EQ(store().perform(put("c", Version{ahead + 1}))->version, Version{ahead + 2});
}

}  // namespace
}  // namespace holdfast::redis_store
