#include "engines/redis/redis_keys.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(RedisKeysTest, TheLockIsAtThePrefixAndTheNameAlone) {
  EXPECT_EQ(Keys{"hf:"}.lock(LockName{"a b"}), "hf:a b");
  EXPECT_EQ(Keys{""}.lock(LockName{"ledger"}), "ledger");
}

TEST(RedisKeysTest, KeysBesideALockAreInItsSlot) {
  const Keys keys{"hf:"};
  const LockName name{"ledger"};
  for (const std::string& key : {keys.queue(name),
                                 keys.waiters(name),
                                 keys.holders(name),
                                 keys.broken(name),
                                 keys.audit(name)}) {
    EXPECT_TRUE(key.starts_with("{hf:ledger}\x01")) << key;
  }
}

TEST(RedisKeysTest, FindsTheLockOfAKey) {
  const Keys keys{"hf:"};
  const LockName name{"a}b"};
  EXPECT_EQ(keys.lock_of(keys.lock(name)), name);
  EXPECT_EQ(keys.lock_of(keys.queue(name)), name);
  for (const std::string& key :
       {keys.waiters(name), keys.counter(name), std::string{"other:x"}, std::string{"hf:"}}) {
    EXPECT_EQ(keys.lock_of(key), std::nullopt) << key;
  }
}

TEST(RedisKeysTest, AChannelHasNoSpaces) {
  const LockName name{"ledger"};
  EXPECT_EQ(Keys{"hf:"}.channel("1f", name), "hf:\x01wake:1f");
  EXPECT_EQ(Keys("team a/").channel("1f", name), "team%20a/\x01wake:1f");
  EXPECT_EQ(Keys("team a/").breaks(), std::string{"team%20a/\x01"} + "break");
  EXPECT_EQ(Keys("team a/", Spread::cluster).channel("1f", name), "team%20a/\x01wake:1f");
}

TEST(RedisKeysTest, OnAClusterEverythingOfALockIsInItsSlot) {
  for (const std::string prefix : {"hf:", "", "team a/"}) {
    const Keys keys{prefix, Spread::sharded_cluster};
    for (const std::string text : {"ledger", "a b", "x"}) {
      const LockName name{text};
      const std::uint16_t slot = hash_slot(prefix + text);
      EXPECT_EQ(keys.slot(name), slot);
      EXPECT_EQ(keys.lock(name), prefix + text) << "where other clients look for it";
      for (const std::string& key : {keys.counter(name),
                                     keys.queue(name),
                                     keys.waiters(name),
                                     keys.broken(name),
                                     keys.audit(name),
                                     keys.channel("1f", name)}) {
        EXPECT_EQ(hash_slot(key), slot) << key;
      }
    }
  }
}

TEST(RedisKeysTest, OnOneServerThereIsOneCounterAndOneChannel) {
  const Keys keys{"hf:"};
  EXPECT_EQ(keys.counter(LockName{"a"}), "hf:\x01token");
  EXPECT_EQ(keys.counter(LockName{"b"}), "hf:\x01token");
  EXPECT_EQ(keys.slot(LockName{"a"}), keys.slot(LockName{"b"}));
}

TEST(RedisKeysTest, BracesAreRefusedOnAClusterAlone) {
  for (const char* const name : {"a{b}c", "a{b", "a}b"}) {
    EXPECT_TRUE(Keys{"hf:"}.check(name)) << name;
    for (const Spread spread : {Spread::cluster, Spread::sharded_cluster}) {
      const auto checked = Keys("hf:", spread).check(name);
      ASSERT_FALSE(checked) << name;
      EXPECT_EQ(checked.error().code, Errc::invalid_argument);
      EXPECT_NE(checked.error().message.find("braces"), std::string::npos);
    }
  }
  EXPECT_TRUE(Keys("hf:", Spread::cluster).check("ledger"));
}

}  // namespace
}  // namespace holdfast::redis
