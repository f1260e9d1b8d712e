// A connection whose packets vanish: whoever holds a lock over it is told that it is lost before
// another is granted it, and what it does then is refused. In a network namespace of its own; for
// root.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <iostream>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/contract/patience.h"
#include "tests/postgres/postgres_server.h"
#include "tests/servers/refusal.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

using servers::connected;

constexpr auto kTtl = 3s;
constexpr auto kPatience = 60s;

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error{command};
}

class BlackHoleTest : public testing::TestWithParam<std::string> {
 protected:
  /// Over TCP, which is cut.
  std::string cut_url() const { return server_.url() + "?timeout=2s&mode=" + GetParam(); }
  /// Over the Unix socket.
  std::string safe_url() const {
    std::string directory;
    for (const char c : server_.directory().string()) {
      directory += c == '/' ? std::string{"%2F"} : std::string{c};
    }
    return "postgres://postgres@" + directory + ':' + std::to_string(server_.port()) +
           "/postgres?mode=" + GetParam();
  }

  void cut() const {
    const std::string port = std::to_string(server_.port());
    run("nft add table inet cut && "
        "nft 'add chain inet cut input { type filter hook input priority 0; }' && "
        "nft add rule inet cut input tcp dport " +
        port + " drop && nft add rule inet cut input tcp sport " + port + " drop");
  }
  static void heal() { run("nft delete table inet cut"); }

  PostgresServer server_;
};
std::string mode_name(const testing::TestParamInfo<std::string>& mode) { return mode.param; }

INSTANTIATE_TEST_SUITE_P(Mode, BlackHoleTest, testing::Values("lease", "advisory"), mode_name);

TEST_P(BlackHoleTest, WhoHoldsOverItIsToldInTime) {
  Client holder = connected(cut_url());
  Client waiter = connected(safe_url());
  auto lease = holder.acquire("x", {.ttl = kTtl});
  ASSERT_TRUE(lease) << lease.error().message;
  auto resource = holder.store()->open("r", *lease);
  ASSERT_TRUE(resource && resource->write("held"));
  std::atomic<TimePoint> lost_at{TimePoint{}};
  const std::stop_callback on_loss{lease->stop_token(), [&] { lost_at = BootClock::now(); }};
  std::atomic<TimePoint> granted_at{TimePoint{}};
  auto granted = std::async(std::launch::async, [&] {
    auto next = waiter.acquire("x", {.ttl = kTtl, .wait = kPatience});
    granted_at = BootClock::now();
    return next;
  });
  ASSERT_TRUE(contract::eventually([&] { return waiter.inspect("x")->waiters.size() == 1; }));
  cut();
  const auto next = granted.get();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->token(), lease->token());
  EXPECT_NE(lost_at.load(), TimePoint{});
  EXPECT_LT(lost_at.load(), granted_at.load());
  std::cout << "told "
            << std::chrono::duration_cast<Millis>(granted_at.load() - lost_at.load()).count()
            << " ms before it was granted to another\n";
  auto theirs = waiter.store()->open("r", *next);
  ASSERT_TRUE(theirs) << theirs.error().message;
  EXPECT_TRUE(theirs->write("next"));
  heal();
  EXPECT_TRUE(contract::eventually([&] {
    const auto late = resource->write("late");
    EXPECT_FALSE(late);
    return !late && late.error().code == Errc::stale_token;
  }));
}

}  // namespace
}  // namespace holdfast::postgres

int main(int argc, char** argv) {
  // Once more, where packets are nobody else's.
  if (std::getenv("HOLDFAST_BLACK_HOLE") == nullptr) {
    setenv("HOLDFAST_BLACK_HOLE", "1", 1);
    std::string again = "ip link set lo up && exec \"$0\" \"$@\"";
    std::vector<char*> words;
    const char* const before[]{"unshare", "-n", "sh", "-c", again.c_str()};
    for (const char* word : before) words.push_back(const_cast<char*>(word));
    for (int i = 0; i < argc; ++i) words.push_back(argv[i]);
    words.push_back(nullptr);
    execvp("unshare", words.data());
    return 127;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
