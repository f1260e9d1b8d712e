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

Locker::Locker(sim::EtcdBed& bed, Settings settings)
    : process{bed.start()},
      port{std::make_shared<TestPort>(process.env, process.port)},
      engine{std::make_shared<EtcdEngine>(process.env, port, settings)},
      desk{std::make_shared<EtcdDesk>(process.env, port, settings)},
      session{std::make_shared<core::LeaseSession>(process.env, engine)},
      bed_{bed} {}

Task<void> Locker::take(std::shared_ptr<core::LeaseSession> session,
                        Wish wish,
                        TimePoint wait_until,
                        std::shared_ptr<Outcome> outcome) {
  core::LeaseSession::Wanted wanted{
      .name = LockName{wish.name}, .ttl = wish.ttl, .claim = wish.claim};
  const std::stop_token stop = outcome->stop.get_token();
  if (wish.kind == LeaseKind::detached) {
    auto taken = co_await session->acquire_detached(std::move(wanted), wait_until, stop);
    if (taken) outcome->detached = *std::move(taken);
    if (!taken) outcome->error = std::move(taken).error();
    co_return;
  }
  core::LeaseSession::Listener listener = [weak = std::weak_ptr{outcome}](const LeaseEvent& event) {
    if (const auto told = weak.lock()) told->events.push_back(event);
  };
  auto taken = co_await session->acquire(std::move(wanted), wait_until, stop, std::move(listener));
  if (taken) outcome->lease = *std::move(taken);
  if (!taken) outcome->error = std::move(taken).error();
}

std::shared_ptr<Locker::Outcome> Locker::begin(Wish wish) {
  auto outcome = std::make_shared<Outcome>();
  const TimePoint wait_until = process.env.now() + wish.wait;
  process.env.spawn(take(session, std::move(wish), wait_until, outcome));
  return outcome;
}

std::shared_ptr<Locker::Outcome> Locker::acquire(Wish wish) {
  auto outcome = begin(std::move(wish));
  EXPECT_TRUE(bed_.scheduler.run_until([&] { return outcome->done(); }, 5min));
  return outcome;
}

ReleaseOutcome Locker::release(const Lease& lease) {
  return wait_for(session->release(lease, process.env.now() + 10s));
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
