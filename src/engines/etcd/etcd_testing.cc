#include "engines/etcd/etcd_testing.h"

#include <utility>

namespace holdfast::etcd::testing {

void TestPort::commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) {
  ++commits;
  if (delay_next == 0) return port_->commit(std::move(txn), answer_by, std::move(on_answer));
  --delay_next;
  env_.call_at(env_.now() + delay, [port = port_, txn = std::move(txn), by = env_.now() + 1h] {
    port->commit(txn, by, [](const Result<TxnAnswer>&) {});
  });
  env_.call_at(answer_by, [then = std::make_shared<OnTxn>(std::move(on_answer))] {
    (*then)(Unexpected{Error{Errc::unknown_outcome, "no answer"}});
  });
}

WatchId TestPort::watch(Watch watch, OnWatch on_watch) {
  const std::string key = watch.keys.key;
  auto heard = [this, then = std::move(on_watch)](const WatchNews& news) {
    if (!deaf) then(news);
  };
  const WatchId id = port_->watch(std::move(watch), std::move(heard));
  watching.emplace(id, key);
  return id;
}

std::vector<KeyValue> EtcdEngineTest::contenders(const std::string& name) {
  const Range range{.keys = Keys{settings_.prefix}.contenders(LockName{name}),
                    .order = Range::Order::oldest_first};
  const auto answer = bed_.commit(hand_, {.then = {range}});
  EXPECT_TRUE(answer);
  return answer ? answer->answers.at(0).found : std::vector<KeyValue>{};
}

void EtcdEngineTest::erase(const std::string& key) {
  EXPECT_TRUE(bed_.commit(hand_, {.then = {Erase{.keys = {.key = key}}}}));
}

void EtcdEngineTest::put(const std::string& key, const std::string& value) {
  EXPECT_TRUE(bed_.commit(hand_, {.then = {Put{.key = key, .value = value}}}));
}

}  // namespace holdfast::etcd::testing
