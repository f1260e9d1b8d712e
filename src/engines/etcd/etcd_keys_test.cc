#include "engines/etcd/etcd_keys.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

constexpr LeaseId kLease{0x694d71ddacfda227};
constexpr std::string_view kOwner = "0123456789abcdef";

bool lies_in(const std::string& key, const KeyRange& range) {
  return key >= range.key && (range.end == std::string(1, '\0') || key < range.end);
}

TEST(EtcdKeysTest, AContenderIsWhereOtherClientsLookForOne) {
  EXPECT_EQ(Keys{"hf/"}.contender(LockName{"ledger"}, kLease, kOwner),
            "hf/ledger/694d71ddacfda227-0123456789abcdef");
  EXPECT_EQ(Keys{""}.contender(LockName{"a/b"}, LeaseId{255}, kOwner), "a/b/ff-0123456789abcdef");
}

TEST(EtcdKeysTest, NoLockSeesTheContendersOfAnother) {
  const Keys keys{"hf/"};
  const KeyRange range = keys.contenders(LockName{"a"});
  EXPECT_TRUE(lies_in(keys.contender(LockName{"a"}, kLease, kOwner), range));
  EXPECT_TRUE(lies_in("hf/a/694d71ddacfda227", range));
  for (const char* other : {"a/b", "ab", "a b", "a%2f", "b"}) {
    EXPECT_FALSE(lies_in(keys.contender(LockName{other}, kLease, kOwner), range)) << other;
  }
}

TEST(EtcdKeysTest, ReadsWhatItWrote) {
  for (const char* prefix : {"hf/", "", "team a/"}) {
    const Keys keys{prefix};
    for (const char* name : {"ledger", "a/b", "100%", "\xc3\xa4 -", "a/1f"}) {
      const auto read = keys.read(keys.contender(LockName{name}, kLease, kOwner));
      ASSERT_TRUE(read) << prefix << name;
      EXPECT_EQ(read->name.text(), name);
      EXPECT_EQ(read->lease, kLease);
      EXPECT_EQ(read->owner_fp, kOwner);
    }
  }
}

TEST(EtcdKeysTest, ReadsAContenderOfAnotherProgram) {
  const auto read = Keys{"hf/"}.read("hf/ledger/694d71ddacfda227");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name.text(), "ledger");
  EXPECT_EQ(read->owner_fp, "");
}

TEST(EtcdKeysTest, WhatIsNotAContenderIsNotReadAsOne) {
  const Keys keys{"hf/"};
  const LockName name{"ledger"};
  for (const std::string& key : {keys.broken(name, kOwner),
                                 keys.given_up(name, kOwner),
                                 std::string{"hf/ledger"},
                                 std::string{"hf/ledger/"},
                                 std::string{"hf//1f"},
                                 std::string{"hf/ledger/0"},
                                 std::string{"hf/ledger/-1f"},
                                 std::string{"hf/ledger/settings"},
                                 std::string{"hf/ledger/1f-short"},
                                 std::string{"hf/%zz/1f"},
                                 std::string{"other/ledger/1f"}}) {
    EXPECT_FALSE(keys.read(key)) << key;
  }
}

TEST(EtcdKeysTest, WhatIsKeptBesideLocksIsNotAmongThem) {
  for (const char* prefix : {"hf/", ""}) {
    const Keys keys{prefix};
    const KeyRange all = keys.locks("");
    for (const char* name : {"ledger", " ", "\xf4\x8f\xbf\xbf"}) {
      const LockName lock{name};
      EXPECT_TRUE(lies_in(keys.contender(lock, kLease, kOwner), all)) << prefix << name;
      EXPECT_FALSE(lies_in(keys.broken(lock, kOwner), all));
      EXPECT_FALSE(lies_in(keys.given_up(lock, kOwner), all));
    }
  }
}

TEST(EtcdKeysTest, FindsLocksByTheBeginningOfTheirNames) {
  const Keys keys{"hf/"};
  const KeyRange some = keys.locks("a/");
  EXPECT_TRUE(lies_in(keys.contender(LockName{"a/b"}, kLease, kOwner), some));
  EXPECT_FALSE(lies_in(keys.contender(LockName{"a"}, kLease, kOwner), some));
  EXPECT_FALSE(lies_in(keys.contender(LockName{"a0"}, kLease, kOwner), some));
}

}  // namespace
}  // namespace holdfast::etcd
