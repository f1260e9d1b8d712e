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
       {keys.waiters(name), keys.counter(), std::string{"other:x"}, std::string{"hf:"}}) {
    EXPECT_EQ(keys.lock_of(key), std::nullopt) << key;
  }
}

TEST(RedisKeysTest, AChannelHasNoSpaces) {
  EXPECT_EQ(Keys{"hf:"}.channel("1f"), "hf:\x01wake:1f");
  EXPECT_EQ(Keys{"team a/"}.channel("1f"), "team%20a/\x01wake:1f");
  EXPECT_EQ(Keys{"team a/"}.breaks(), std::string{"team%20a/\x01"} + "break");
}

}  // namespace
}  // namespace holdfast::redis
