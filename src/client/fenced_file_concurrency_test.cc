// Goal: of many writers with rising tokens, the file ends with the highest that was let in, and no
// write was accepted after one with a higher token.
// Method: every accepted write leaves its version and token in memory that all processes share.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "client/fenced_file_testing.h"

namespace holdfast {
namespace {

using testing::code;
using testing::holder;
using testing::kDone;
using testing::on_disk;

constexpr std::size_t kRounds = 100;
constexpr std::size_t kWriters = 4;

struct Shared {
  std::atomic<std::uint64_t> next_token{1};
  // By version.
  std::array<std::atomic<std::uint64_t>, 2 * kRounds * kWriters + 1> tokens{};
};

void write_many(const std::string& path, Shared& shared) {
  for (std::size_t round = 0; round < kRounds; ++round) {
    const Sequencer who = holder(shared.next_token.fetch_add(1));
    auto file = FencedFile::open(path, who);
    for (int i = 0; file && i < 2; ++i) {
      const auto written = file->write(std::to_string(who.token.value()));
      if (written) shared.tokens.at(written->version.value()) = who.token.value();
    }
  }
}

void expect_rising(const Shared& shared, const std::string& path) {
  std::uint64_t last = 0;
  std::size_t accepted = 0;
  for (std::size_t version = 1; version < shared.tokens.size(); ++version) {
    const std::uint64_t token = shared.tokens[version];
    if (token == 0) break;
    EXPECT_GE(token, last) << "version " << version;
    last = token;
    ++accepted;
  }
  const auto given =
      std::ranges::count_if(shared.tokens, [](const auto& token) { return token != 0; });
  EXPECT_EQ(accepted, static_cast<std::size_t>(given)) << "a version was skipped";
  EXPECT_GT(accepted, kRounds / 2);
  EXPECT_EQ(on_disk(path), std::to_string(last));
}

class FencedFileConcurrencyTest : public ::testing::Test {
 protected:
  testing::MemoryDirectory directory_;
  std::string path_{directory_.path() + "/ledger"};
};

TEST_F(FencedFileConcurrencyTest, ProcessesWithRisingTokens) {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *new (memory) Shared;
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < kWriters; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      write_many(path_, shared);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  expect_rising(shared, path_);
  munmap(memory, sizeof(Shared));
}

TEST_F(FencedFileConcurrencyTest, ThreadsWithRisingTokens) {
  Shared shared;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kWriters; ++i) {
      threads.emplace_back([&] { write_many(path_, shared); });
    }
  }
  expect_rising(shared, path_);
}

TEST_F(FencedFileConcurrencyTest, ThreadsShareAHandle) {
  auto file = FencedFile::open(path_, holder(1));
  ASSERT_TRUE(file);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kWriters; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 10; ++n) EXPECT_EQ(code(file->write("v")), kDone);
      });
    }
  }
  EXPECT_EQ(file->sequence(), 10 * kWriters);
}

}  // namespace
}  // namespace holdfast
