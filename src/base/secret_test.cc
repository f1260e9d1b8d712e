#include "base/secret.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

constexpr int kDraws = 10'000;

TEST(SecretTest, NeverRepeats) {
  std::set<Owner> seen;
  for (int i = 0; i < kDraws; ++i) EXPECT_TRUE(seen.insert(fresh_owner()).second);
}

TEST(SecretTest, EveryByteVaries) {
  std::array<std::set<std::uint8_t>, 16> values;
  for (int i = 0; i < kDraws; ++i) {
    const Owner owner = fresh_owner();
    for (std::size_t at = 0; at < values.size(); ++at) values[at].insert(owner.bytes()[at]);
  }
  for (const auto& seen : values) EXPECT_EQ(seen.size(), 256U);
}

TEST(SecretTest, ThreadsDrawDifferentSecrets) {
  std::vector<std::vector<Owner>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 1000; ++i) mine.push_back(fresh_owner());
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<Owner> seen;
  for (const auto& mine : drawn) seen.insert(mine.begin(), mine.end());
  EXPECT_EQ(seen.size(), 4000U);
}

Owner draw_in_child() {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Owner owner = fresh_owner();
    const ssize_t wrote = write(ends[1], owner.bytes().data(), owner.bytes().size());
    _exit(wrote == static_cast<ssize_t>(owner.bytes().size()) ? 0 : 1);
  }
  Owner::Bytes bytes{};
  EXPECT_EQ(read(ends[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
  return Owner{bytes};
}

// The parent's pool is part-used when it forks: without reseeding both would draw the same next.
TEST(SecretTest, ParentAndChildrenDrawDifferentSecretsAfterFork) {
  static_cast<void>(fresh_owner());
  const Owner first = draw_in_child();
  const Owner second = draw_in_child();
  const Owner mine = fresh_owner();
  EXPECT_NE(first, second);
  EXPECT_NE(first, mine);
  EXPECT_NE(second, mine);
}

}  // namespace
}  // namespace holdfast
