// Names and metadata at their limits and beyond. What is beyond touches nothing.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using LimitsContract = ContractTest;
HOLDFAST_CONTRACT(LimitsContract);

/// The longest name this client takes: with its prefix, names have 512 bytes.
std::size_t longest_name(const EngineUnderTest& engine) {
  return engine.name == "local_prefix" ? kNameBytesMax - 7 : kNameBytesMax;
}

TEST_P(LimitsContract, NamesUpToTheLimitWork) {
  const std::size_t longest = longest_name(GetParam());
  std::string accents;
  while (accents.size() + 2 <= longest) accents += "é";
  for (const std::string& name : {std::string{"n"},
                                  std::string(longest, 'n'),
                                  std::string(longest - 1, 'n'),
                                  accents,
                                  std::string{"名前/🔒"},
                                  std::string{" "},
                                  std::string{"../../etc/passwd"},
                                  std::string{"%00\\'\"?&#:*"}}) {
    auto lease = client().try_acquire(name);
    ASSERT_TRUE(lease) << name << ": " << lease.error().message;
    EXPECT_EQ(lease->name(), name);
    const auto info = client().inspect(name);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->name, name);
    ASSERT_EQ(info->holders.size(), 1u);
    const auto locks = client().list(name);
    ASSERT_EQ(locks->size(), 1u);
    EXPECT_EQ(locks->front().name, name);
    EXPECT_TRUE(client().check_sequencer(lease->sequencer())->stands) << name;
  }
}

TEST_P(LimitsContract, NamesBeyondTheLimitsAreRefused) {
  for (const std::string& name : {std::string{},
                                  std::string(longest_name(GetParam()) + 1, 'n'),
                                  std::string(100'000, 'n'),
                                  std::string{"a\nb"},
                                  std::string{"a\0b", 3},
                                  std::string{"a\x7f"},
                                  std::string{"a\xc2\x85"},
                                  std::string{"\xff"},
                                  std::string{"\xc0\xaf"},
                                  std::string{"\xed\xa0\x80"}}) {
    const auto refused = client().try_acquire(name);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_NE(refused.error().message.find("name"), std::string::npos) << refused.error().message;
    EXPECT_EQ(client().inspect(name).error().code, Errc::invalid_argument);
  }
  EXPECT_TRUE(client().list()->empty());
}

TEST_P(LimitsContract, MetadataUpToTheLimitIsKept) {
  const std::string label(kMetadataBytesMax - 4, 'l');
  auto lease = client().try_acquire("x", {.label = label, .trace_id = "abcd"});
  ASSERT_TRUE(lease) << lease.error().message;
  const LockInfo info = *client().inspect("x");
  ASSERT_EQ(info.holders.size(), 1u);
  EXPECT_EQ(info.holders[0].label, label);
  EXPECT_EQ(info.holders[0].trace_id, "abcd");
}

TEST_P(LimitsContract, EveryBytePatternOfMetadataComesBack) {
  std::string label;
  for (int byte = 0; byte < 256; ++byte) label.push_back(static_cast<char>(byte));
  auto lease = client().try_acquire("x", {.label = label});
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(client().inspect("x")->holders.at(0).label, label);
}

TEST_P(LimitsContract, MetadataBeyondTheLimitIsRefused) {
  const std::string label(kMetadataBytesMax, 'l');
  const auto refused = client().try_acquire("x", {.label = label, .trace_id = "t"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("label"), std::string::npos);
  EXPECT_TRUE(client().list()->empty());
}

TEST_P(LimitsContract, MetadataOfOneLeaseNeverShowsInTheNext) {
  for (const std::size_t size : {4096u, 100u, 0u, 2000u}) {
    const std::string label(size, 'l');
    auto lease = client().try_acquire("x", {.label = label});
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_EQ(client().inspect("x")->holders.at(0).label, label);
  }
}

TEST_P(LimitsContract, OptionsOutOfRangeAreRefusedByName) {
  struct Case {
    AcquireOptions options;
    const char* field;
  };
  const std::vector<Case> cases{
      {{.ttl = 0ms}, "TTL"},
      {{.ttl = -1ms}, "TTL"},
      {{.ttl = 99ms}, "TTL"},
      {{.ttl = kTtlMax + 1ms}, "TTL"},
      {{.ttl = Millis::max()}, "TTL"},
      {{.wait = -1ms}, "wait"},
      {{.lock_delay = -1ms}, "lock-delay"},
      {{.lock_delay = kTtlMax + 1ms}, "lock-delay"},
      {{.mode = Mode::permit}, "permit"},
      {{.permits = 1}, "permit"},
  };
  for (const Case& one : cases) {
    const auto refused = client().acquire("x", one.options);
    ASSERT_FALSE(refused) << one.field;
    EXPECT_EQ(refused.error().code, Errc::invalid_argument) << one.field;
    EXPECT_NE(refused.error().message.find(one.field), std::string::npos)
        << refused.error().message;
  }
  EXPECT_TRUE(client().list()->empty());
}

TEST_P(LimitsContract, TtlsAtTheLimitsWork) {
  for (const Millis ttl : {kTtlMin, kTtlMax}) {
    auto lease = client().try_acquire("x", {.ttl = ttl});
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_EQ(lease->ttl(), std::max(ttl, GetParam().ttl_min));
    EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  }
}

}  // namespace
}  // namespace holdfast::contract
