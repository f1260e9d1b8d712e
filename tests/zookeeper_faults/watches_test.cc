// Watches cost a server memory for as long as they stand: none is left by who has left.

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "holdfast/client.h"
#include "tests/contract/patience.h"
#include "tests/servers/refusal.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr int kLocks = 20;
constexpr auto kTtl = 10s;

/// Calls that wait, one for each lock, and what they got.
class Queue {
 public:
  explicit Queue(Client& client) {
    for (int i = 0; i < kLocks; ++i) {
      client.async_acquire(std::to_string(i),
                           {.ttl = kTtl, .wait = 60s},
                           stop_.get_token(),
                           [this](Result<Lease, AcquireError> lease) { add(std::move(lease)); });
    }
  }

  void give_up() { stop_.request_stop(); }
  /// Waits until every call has come to its end. How many hold.
  std::size_t wait_for_all() {
    std::unique_lock lock{mutex_};
    done_.wait_for(lock, contract::kPatience, [this] { return answers_ == kLocks; });
    EXPECT_EQ(answers_, kLocks);
    return leases_.size();
  }
  void release_all() { leases_.clear(); }

 private:
  void add(Result<Lease, AcquireError> lease) {
    const std::lock_guard lock{mutex_};
    if (lease) leases_.push_back(*std::move(lease));
    ++answers_;
    done_.notify_all();
  }

  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable done_;
  int answers_{0};
  std::vector<Lease> leases_;
};

class ZookeeperWatchesTest : public testing::Test {
 protected:
  /// As the server counts them.
  int watches() const {
    const std::string told = ensemble_.node(0).tell("mntr");
    const std::string label = "zk_watch_count\t";
    const std::size_t at = told.find(label);
    return at == std::string::npos ? -1 : std::stoi(told.substr(at + label.size()));
  }

  ZookeeperEnsemble ensemble_;
  Client holder_ = servers::connected("zookeeper://" + ensemble_.endpoints());
  Client waiter_ = servers::connected("zookeeper://" + ensemble_.endpoints());
};

TEST_F(ZookeeperWatchesTest, NoneIsLeftByWhoHasLeft) {
  std::vector<Lease> held;
  for (int i = 0; i < kLocks; ++i) {
    auto lease = holder_.acquire(std::to_string(i), {.ttl = kTtl});
    ASSERT_TRUE(lease) << lease.error().message;
    held.push_back(*std::move(lease));
  }
  // Who has held a lock for some time watches its own node.
  ASSERT_TRUE(contract::eventually([this] { return watches() == kLocks; })) << watches();

  Queue impatient{waiter_};
  ASSERT_TRUE(contract::eventually([this] { return watches() == 2 * kLocks; })) << watches();
  impatient.give_up();
  EXPECT_EQ(impatient.wait_for_all(), 0U);
  EXPECT_TRUE(contract::eventually([this] { return watches() == kLocks; })) << watches();

  Queue patient{waiter_};
  ASSERT_TRUE(contract::eventually([this] { return watches() == 2 * kLocks; })) << watches();
  held.clear();
  EXPECT_EQ(patient.wait_for_all(), static_cast<std::size_t>(kLocks));
  patient.release_all();
  EXPECT_TRUE(contract::eventually([this] { return watches() == 0; })) << watches();
}

}  // namespace
}  // namespace holdfast::zookeeper
