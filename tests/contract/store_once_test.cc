// Idempotency keys: one stored result, whoever runs, dies or comes late.

#include <fstream>
#include <latch>
#include <thread>

#include "core/store_backend.h"
#include "tests/contract/store_contract.h"

namespace holdfast::contract {
namespace {

using StoreOnce = StoreContractTest;
HOLDFAST_STORE_CONTRACT(StoreOnce);

OnceResult made(std::string bytes, int status = 0) {
  return {.status = status, .bytes = std::move(bytes)};
}

TEST_P(StoreOnce, TheFirstCallerRunsAndLaterOnesGetItsResult) {
  int runs = 0;
  const auto run = [&](const Lease& lease) {
    ++runs;
    EXPECT_TRUE(lease.ensure_held());
    return made(std::string{"a\0b", 3});
  };
  const auto first = store().once("k", run);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->ran, Ran::here);
  const auto second = reconnect().store()->once("k", run);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->ran, Ran::before);
  EXPECT_EQ(second->result.bytes, (std::string{"a\0b", 3}));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(store().once_result("k").value()->bytes, first->result.bytes);
  EXPECT_FALSE(*store().once_result("another"));
}

TEST_P(StoreOnce, ResultsAndValuesDoNotMeet) {
  ASSERT_TRUE(store().put("k", "value"));
  ASSERT_TRUE(store().once("k", [](const Lease&) { return made("result"); }));
  EXPECT_EQ(peek("k"), "value");
}

TEST_P(StoreOnce, SixtyFourCallersGetOneResult) {
  constexpr int kCallers = 64;
  std::atomic<int> runs{0};
  std::atomic<int> same{0};
  std::latch begin{kCallers};
  std::vector<std::thread> threads;
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      const auto report = store().once("k", [&](const Lease&) {
        ++runs;
        return made("result");
      });
      if (report && report->result.bytes == "result") ++same;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(same, kCallers);
}

TEST_P(StoreOnce, WhoDoesNotWaitLearnsThatItIsInProgress) {
  std::latch running{1};
  std::latch finish{1};
  std::thread runner{[&] {
    const auto report = reconnect().store()->once("k", [&](const Lease&) {
      running.count_down();
      finish.wait();
      return made("result");
    });
    EXPECT_TRUE(report);
  }};
  running.wait();
  const auto never = [](const Lease&) {
    ADD_FAILURE() << "ran twice";
    return made("");
  };
  EXPECT_EQ(code_of(store().once("k", never, {.wait = 0ms})), Errc::in_progress);
  EXPECT_EQ(code_of(store().once("k", never, {.wait = 20ms})), Errc::in_progress);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of(store().once("k", never, {}, stop.get_token())), Errc::cancelled);
  finish.count_down();
  EXPECT_EQ(store().once("k", never)->result.bytes, "result");
  runner.join();
}

TEST_P(StoreOnce, AFailureIsStoredOrRetried) {
  int runs = 0;
  const auto failing = [&](const Lease&) {
    ++runs;
    return made("no", 3);
  };
  const OnceOptions retry{.on_failure = OnFailure::retry};
  EXPECT_EQ(store().once("retried", failing, retry)->result.status, 3);
  EXPECT_EQ(store().once("retried", failing, retry)->ran, Ran::here);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(store().once("stored", failing)->ran, Ran::here);
  const auto stored = store().once("stored", failing);
  EXPECT_EQ(stored->ran, Ran::before);
  EXPECT_EQ(stored->result.status, 3);
  EXPECT_EQ(runs, 3);
}

/// Counts the operations after which the store may forget a key without a result.
class Forgetful final : public StoreBackend {
 public:
  explicit Forgetful(std::shared_ptr<StoreBackend> inner) : inner_{std::move(inner)} {}

  StoreResult perform(const StoreRequest& request) override {
    auto reply = inner_->perform(request);
    const auto* write = std::get_if<WriteResource>(&request.operation);
    if (reply && write != nullptr && !write->value && write->keep) ++forgotten_;
    return reply;
  }
  void async_perform(StoreRequest request, StoreCallback callback) override {
    callback(perform(request));
  }

  int forgotten() const { return forgotten_; }

 private:
  std::shared_ptr<StoreBackend> inner_;
  int forgotten_{0};
};

// Keys that nobody asks for again must not fill the store.
TEST_P(StoreOnce, AFailureThatIsNotStoredIsForgotten) {
  const auto forgetful = std::make_shared<Forgetful>(store().backend());
  Store counted{forgetful, store().locks()};
  const auto failing = [](const Lease&) { return made("no", 3); };
  ASSERT_EQ(counted.once("k", failing, {.on_failure = OnFailure::retry})->ran, Ran::here);
  EXPECT_EQ(forgetful->forgotten(), 1);
  EXPECT_EQ(counted.once("k", [](const Lease&) { return made("yes"); })->result.bytes, "yes");
  EXPECT_EQ(store().once_result("k").value()->bytes, "yes");
}

TEST_P(StoreOnce, ResultsExpire) {
  const auto run = [](const Lease&) { return made("result"); };
  ASSERT_EQ(store().once("k", run, {.keep = 1ms})->ran, Ran::here);
  EXPECT_TRUE(eventually([&] { return !*store().once_result("k"); }));
  EXPECT_EQ(store().once("k", run)->ran, Ran::here);
  EXPECT_EQ(store().once("k", run)->ran, Ran::before);
}

// What others do to what has expired must not take the key from whoever runs it anew.
TEST_P(StoreOnce, AnExpiredKeyIsRunOnceMoreAndNoMore) {
  const auto other = [](const Lease&) { return made("other"); };
  ASSERT_TRUE(store().once("k", other, {.keep = 1ms}));
  EXPECT_TRUE(eventually([&] { return !*store().once_result("k"); }));
  int runs = 0;
  const auto report = store().once("k", [&](const Lease&) {
    ++runs;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(store().once("k" + std::to_string(i), other));
    return made("result");
  });
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->ran, Ran::here);
  EXPECT_EQ(runs, 1);
}

TEST_P(StoreOnce, ARunnerThatWasOvertakenGetsTheOtherResult) {
  std::latch paused{1};
  std::latch overtaken{1};
  std::thread slow{[&] {
    const auto report = reconnect().store()->once("k", [&](const Lease&) {
      paused.count_down();
      overtaken.wait();
      return made("slow");
    });
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->result.bytes, "quick");
    EXPECT_EQ(report->ran, Ran::before);
  }};
  paused.wait();
  ASSERT_TRUE(operator_client().break_lock("once:k", "the test takes over"));
  EXPECT_EQ(store().once("k", [](const Lease&) { return made("quick"); })->result.bytes, "quick");
  overtaken.count_down();
  slow.join();
  EXPECT_EQ(store().once_result("k").value()->bytes, "quick");
}

TEST_P(StoreOnce, ARunnerThatThrowsLeavesTheKeyToTheNext) {
  EXPECT_THROW(static_cast<void>(store().once(
                   "k", [](const Lease&) -> OnceResult { throw std::runtime_error{"no"}; })),
               std::runtime_error);
  EXPECT_EQ(store().once("k", [](const Lease&) { return made("result"); })->ran, Ran::here);
}

// The runner kills itself before and after every step it takes. Whoever comes next finds its result
// or makes one; there is one from then on.
TEST_P(StoreOnce, OneResultWhereverTheRunnerDies) {
  for (int step = 0; step < kOnceSteps; ++step) {
    const std::string key = "k" + std::to_string(step);
    auto victim = actor();
    auto dying = victim->send({"once", key, "300", file("effects"), std::to_string(step)});
    static_cast<void>(dying.wait_for(kPatience));
    auto heir = actor();
    const Fields taken = heir->ask({"once", key, "300", file("effects"), "-1"});
    ASSERT_EQ(taken.size(), 2U) << step;
    EXPECT_TRUE(taken[0] == "here" || taken[0] == "before") << step << ": " << taken[0];
    const Fields again = heir->ask({"once", key, "300", file("effects"), "-1"});
    EXPECT_EQ(again, (Fields{"before", taken[1]})) << step;
  }
}

TEST_P(StoreOnce, KeysAndOptionsAreChecked) {
  const auto run = [](const Lease&) { return made(""); };
  EXPECT_TRUE(store().once(std::string(480, 'k'), run));
  EXPECT_EQ(code_of(store().once(std::string(508, 'k'), run)), Errc::invalid_argument);
  EXPECT_EQ(code_of(store().once("", run)), Errc::invalid_argument);
  EXPECT_EQ(code_of(store().once("k", run, {.keep = 0ms})), Errc::invalid_argument);
  EXPECT_EQ(code_of(store().once("k", run, {.wait = -1ms})), Errc::invalid_argument);
  EXPECT_EQ(code_of(store().once("k", run, {.ttl = 1ms})), Errc::invalid_argument);
  const auto large = [](const Lease&) { return made(std::string(kValueBytesMax, 'r')); };
  EXPECT_EQ(code_of(store().once("large", large)), Errc::invalid_argument);
  EXPECT_FALSE(*store().once_result("large"));
}

}  // namespace
}  // namespace holdfast::contract
