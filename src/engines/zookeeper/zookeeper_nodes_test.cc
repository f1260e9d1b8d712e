#include "engines/zookeeper/zookeeper_nodes.h"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::zookeeper {
namespace {

constexpr std::string_view kId = "0123456789abcdef0011223344556677";
constexpr core::Claim kExclusive{};
constexpr core::Claim kShared{.mode = Mode::shared};
constexpr core::Claim kPermit{.mode = Mode::permit, .permits = 12};

std::vector<std::string> names(const std::vector<std::string>& children) {
  std::vector<std::string> ordered;
  for (const Child& child : in_order(children)) ordered.push_back(child.name);
  return ordered;
}

TEST(ZookeeperNodesTest, ContendersAreNamedAsOtherClientsNameTheirs) {
  EXPECT_EQ(contender_prefix(Layout::curator, kExclusive, kId),
            "_c_01234567-89ab-cdef-0011-223344556677-lock-");
  EXPECT_EQ(contender_prefix(Layout::curator_rw, kExclusive, kId),
            "_c_01234567-89ab-cdef-0011-223344556677-__WRIT__");
  EXPECT_EQ(contender_prefix(Layout::curator_rw, kShared, kId),
            "_c_01234567-89ab-cdef-0011-223344556677-__READ__");
  EXPECT_EQ(contender_prefix(Layout::kazoo, kExclusive, kId),
            "0123456789abcdef0011223344556677__lock__");
  EXPECT_EQ(contender_prefix(Layout::kazoo, kShared, kId),
            "0123456789abcdef0011223344556677__rlock__");
}

TEST(ZookeeperNodesTest, EveryContenderOfOursIsReadAsItWasWritten) {
  for (const Layout layout : {Layout::curator, Layout::curator_rw, Layout::kazoo}) {
    for (const core::Claim& claim : {kExclusive, kShared, kPermit}) {
      for (const char* number : {"0000000042", "-000000042", "-2147483648", "2147483647"}) {
        const std::string name = contender_prefix(layout, claim, kId) + number;
        const auto read = read_contender(name);
        ASSERT_TRUE(read) << name;
        EXPECT_EQ(read->id, kId) << name;
        EXPECT_EQ(read->claim.mode, claim.mode) << name;
        EXPECT_EQ(read->claim.permits, claim.permits) << name;
        EXPECT_EQ(std::to_string(read->sequence), std::to_string(std::stol(number))) << name;
      }
    }
  }
}

TEST(ZookeeperNodesTest, ContendersOfOtherProgramsAreRead) {
  EXPECT_EQ(read_contender("lock-0000000007")->sequence, 7);
  EXPECT_EQ(read_contender("lock-0000000007")->id, "");
  EXPECT_EQ(read_contender("x-123-lock--000000007")->sequence, -7);
  EXPECT_EQ(read_contender("abc__rlock__0000000001")->claim.mode, Mode::shared);
}

TEST(ZookeeperNodesTest, WhatIsNoContenderIsNone) {
  for (const char* name : {"",
                           "lock",
                           "lock-",
                           "lock-7",
                           "lock-00000000071x",
                           "leases",
                           "locks",
                           "0000000007",
                           "__lock__",
                           "lock-99999999999"}) {
    EXPECT_FALSE(read_contender(name)) << name;
  }
}

TEST(ZookeeperNodesTest, P20_TheOrderHoldsWhereTheNumbersWrap) {
  constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_TRUE(precedes(kMax, kMin));
  EXPECT_FALSE(precedes(kMin, kMax));
  EXPECT_TRUE(precedes(-1, 0));
  EXPECT_FALSE(precedes(5, 5));
  const std::vector<std::string> wrapped{
      "lock--2147483648", "lock-2147483646", "lock--2147483647", "lock-2147483647"};
  EXPECT_EQ(names(wrapped),
            (std::vector<std::string>{
                "lock-2147483646", "lock-2147483647", "lock--2147483648", "lock--2147483647"}));
  EXPECT_EQ(names({"lock-0000000001", "lock--000000001", "lock-0000000000"}),
            (std::vector<std::string>{"lock--000000001", "lock-0000000000", "lock-0000000001"}));
}

TEST(ZookeeperNodesTest, P20_WhereNumbersRepeatTheyDoNotTell) {
  EXPECT_TRUE(numbers_tell(in_order({"lock-0000000001", "lock-2147483646"})));
  EXPECT_FALSE(numbers_tell(in_order({"a-lock-0000000001", "b-lock-0000000001"})));
  EXPECT_FALSE(numbers_tell(in_order({"lock-2147483647"})));
  EXPECT_FALSE(numbers_tell(in_order({"lock--2147483648"})));
  EXPECT_TRUE(numbers_tell({}));
}

TEST(ZookeeperNodesTest, NamesThatAreNoComponentsAreEncoded) {
  const Nodes nodes{"/hf"};
  for (const char* name : {"a/b", ".", "..", "a b", "ä", "%2e", "%", "/", "zookeeper", "a.b"}) {
    const auto path = nodes.lock(LockName{name});
    ASSERT_TRUE(path) << name;
    ASSERT_TRUE(path->starts_with("/hf/")) << name;
    const std::string child = path->substr(4);
    EXPECT_TRUE(is_component(child)) << child;
    ASSERT_TRUE(nodes.read(child)) << child;
    EXPECT_EQ(nodes.read(child)->text(), name);
  }
  EXPECT_EQ(*nodes.lock(LockName{"ledger"}), "/hf/ledger");
}

TEST(ZookeeperNodesTest, APrefixMayHaveSlashesAroundIt) {
  EXPECT_EQ(Nodes{"app/locks/"}.prefix(), "/app/locks");
  EXPECT_EQ(Nodes{"/"}.prefix(), "");
}

TEST(ZookeeperNodesTest, WithoutAPrefixNamesAreThePaths) {
  const Nodes nodes{""};
  EXPECT_EQ(*nodes.lock(LockName{"a/b"}), "/a/b");
  EXPECT_EQ(*nodes.lock(LockName{"/a/b"}), "/a/b");
  for (const char* name : {"/", "a//b", "a/", ".", "a/..", "a/./b", "\xc2\x85", "\xee\x80\x80"}) {
    const auto path = nodes.lock(LockName{name});
    ASSERT_FALSE(path) << name;
    EXPECT_EQ(path.error().code, Errc::invalid_argument);
  }
}

TEST(ZookeeperNodesTest, WhatIsKeptBesideTheLocksIsNoLock) {
  const Nodes nodes{"hf"};
  EXPECT_EQ(nodes.beside("broken"), "/hf/%broken");
  EXPECT_FALSE(nodes.read("%broken"));
  EXPECT_FALSE(nodes.read("%2E")) << "we write it in another way";
  EXPECT_FALSE(Nodes{""}.read("%broken"));
}

TEST(ZookeeperNodesTest, TheIdNamesTheOwner) {
  const std::string id = contender_id("0123456789abcdef", 0x0102030405060708);
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(owner_fp_of(id), "0123456789abcdef");
  EXPECT_NE(id, contender_id("0123456789abcdef", 1));
  EXPECT_EQ(owner_fp_of(""), "");
}

TEST(ZookeeperNodesTest, ParentsOfPaths) {
  EXPECT_EQ(parent_of("/a/b/c"), "/a/b");
  EXPECT_EQ(parent_of("/a"), "/");
}

}  // namespace
}  // namespace holdfast::zookeeper
