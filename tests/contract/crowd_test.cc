// Many waiters on one name.

#include "tests/contract/contract.h"
#include "tests/contract/labour.h"

namespace holdfast::contract {
namespace {

using CrowdContract = ContractTest;
HOLDFAST_CONTRACT(CrowdContract);

TEST_P(CrowdContract, AThousandWaitersAreEachServedOnce) {
  constexpr int kActors = 4;
  constexpr int kThreads = 250;
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  std::vector<std::unique_ptr<Actor>> actors;
  std::vector<std::future<Fields>> replies;
  for (int i = 0; i < kActors; ++i) {
    actors.push_back(actor());
    replies.push_back(
        actors.back()->send({"crowd", "x", file("ledger"), std::to_string(kThreads)}));
  }
  ASSERT_TRUE(eventually([&] { return client().inspect("x")->waiters.size() >= kActors; }));
  held->release();
  for (auto& reply : replies) {
    ASSERT_EQ(reply.wait_for(kPatience), std::future_status::ready);
    EXPECT_EQ(reply.get(), (Fields{"done", std::to_string(kThreads)}));
  }
  EXPECT_EQ(read_count(file("ledger")), std::uint64_t{kActors * kThreads});
  EXPECT_TRUE(client().inspect("x")->holders.empty());
}

TEST_P(CrowdContract, RequestsOfOneProcessAreServedInTheirOrder) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  auto a = actor();
  auto b = actor();
  auto of_a = a->send({"line", "x", file("ledger"), "250"});
  auto of_b = b->send({"line", "x", file("ledger"), "250"});
  ASSERT_TRUE(eventually([&] { return client().inspect("x")->waiters.size() >= 2; }));
  held->release();
  for (auto* reply : {&of_a, &of_b}) {
    ASSERT_EQ(reply->wait_for(kPatience), std::future_status::ready);
    EXPECT_EQ(reply->get(), (Fields{"done", "250"}));
  }
  EXPECT_EQ(read_count(file("ledger")), 500u);
}

TEST_P(CrowdContract, PausedProcessWithManyWaitersDelaysOthersByItsTtlAtMost) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  auto a = actor();
  std::vector<PendingAnswer> stuck;
  for (int i = 0; i < 10; ++i) {
    stuck.push_back(a->begin_acquire("lease" + std::to_string(i), "x", {.ttl = 300ms}));
  }
  ASSERT_TRUE(eventually([&] { return !client().inspect("x")->waiters.empty(); }));
  a->pause();
  auto b = actor();
  PendingAnswer other = b->begin_acquire("lease", "x");
  held->release();
  ASSERT_TRUE(other.get().granted());
  a->resume();
  b->release("lease");
  // Threads of one process are served in no order a test could know: release whoever has it.
  std::vector<bool> served(stuck.size());
  for (std::size_t done = 0; done < stuck.size(); ++done) {
    std::size_t turn = 0;
    ASSERT_TRUE(eventually([&] {
      for (turn = 0; turn < stuck.size(); ++turn) {
        if (!served[turn] && stuck[turn].is_ready()) return true;
      }
      return false;
    }));
    served[turn] = true;
    EXPECT_TRUE(stuck[turn].get().granted());
    a->release("lease" + std::to_string(turn));
  }
}

}  // namespace
}  // namespace holdfast::contract
