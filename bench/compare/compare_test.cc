// Comparing engines: what is measured, what is missing and why, and what is shown of a URL.

#include "bench/compare/compare.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"

namespace holdfast::bench {
namespace {

TEST(CompareTest, WhatIsShownOfAUrlHasNoSecrets) {
  EXPECT_EQ(shown_url("redis://me:secret@host:6379/2"), "redis://host:6379/2");
  EXPECT_EQ(shown_url("redis://me:s@cr?t@host"), "redis://host");
  EXPECT_EQ(shown_url("postgres://host/db?password=secret"), "postgres://host/db");
  EXPECT_EQ(shown_url("postgres://me@host/db?password=s@cret"), "postgres://cret");
  EXPECT_EQ(shown_url("etcd://a,b,c"), "etcd://a,b,c");
  EXPECT_EQ(shown_url("local:/dir@home"), "local:/dir@home");
}

TEST(CompareTest, AnEngineIsMeasuredInBothCases) {
  double highest = 0;
  std::string last;
  const auto comparison = compare({.engines = {"local"},
                                   .interrupt = -1,
                                   .progress = [&](const std::string& words, double part) {
                                     EXPECT_GE(part, highest);
                                     EXPECT_LE(part, 1);
                                     highest = part;
                                     last = words;
                                   }});
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_TRUE(comparison->missing.empty());
  ASSERT_EQ(comparison->measured.size(), 1U);
  const Measured& local = comparison->measured[0];
  EXPECT_EQ(local.engine, "local");
  for (const Figure& figure : {local.figures.pair, local.figures.hand_over}) {
    EXPECT_GE(figure.samples, 20U);
    EXPECT_GT(figure.timing.p50_ns, 0);
    EXPECT_GE(figure.timing.p99_ns, figure.timing.p50_ns);
  }
  EXPECT_EQ(last, "local: hand-over between two processes");
}

TEST(CompareTest, AnEngineThatCannotBeReachedIsMissingWithTheReason) {
  const auto comparison =
      compare({.engines = {"redis://u:secret@127.0.0.1:1?timeout=1s", "nonsense:"}});
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_TRUE(comparison->measured.empty());
  ASSERT_EQ(comparison->missing.size(), 2U);
  EXPECT_EQ(comparison->missing[0].engine, "redis://127.0.0.1:1");
  EXPECT_EQ(comparison->missing[0].error.code, Errc::unavailable);
  EXPECT_EQ(comparison->missing[0].error.message.find("secret"), std::string::npos);
  EXPECT_EQ(comparison->missing[1].error.code, Errc::invalid_argument);
}

TEST(CompareTest, AnInterruptEndsIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd interrupt{ends[0]};
  close(ends[1]);
  const auto comparison = compare({.engines = {"local", "local"}, .interrupt = interrupt.get()});
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().code, Errc::cancelled);
}

}  // namespace
}  // namespace holdfast::bench
