#include "tests/etcd/driver_bed.h"

#include <utility>

namespace holdfast::etcd {
namespace {

template <class T>
struct Promised {
  std::shared_ptr<std::promise<Result<T>>> promise{std::make_shared<std::promise<Result<T>>>()};
  void operator()(Result<T> answer) { promise->set_value(std::move(answer)); }
};

}  // namespace

EtcdTarget target_at(std::uint16_t port) { return {.endpoints = {{"127.0.0.1", port}}}; }

EtcdTarget target_of(const EtcdCluster& cluster) {
  EtcdTarget target;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    target.endpoints.push_back({"127.0.0.1", cluster.node(i).ports().clients});
  }
  return target;
}

DriverBed::DriverBed(const EtcdTarget& target, EtcdDriverSettings settings)
    : env_{*runtime::AsioEnv::create()}, driver_{*EtcdDriver::create(*env_, target, settings)} {}

DriverBed::~DriverBed() {
  on_env([this] { driver_.reset(); });
}

void DriverBed::on_env(const std::function<void()>& work) {
  std::promise<void> done;
  auto future = done.get_future();
  env_->post([&] {
    work();
    done.set_value();
  });
  get(std::move(future));
}

std::future<Result<TxnAnswer>> DriverBed::commit(Txn txn, Duration within) {
  Promised<TxnAnswer> promised;
  auto answer = promised.promise->get_future();
  on_env([&] { driver_->commit(share(std::move(txn)), env_->now() + within, promised); });
  return answer;
}

std::future<Result<TxnAnswer>> DriverBed::put(const std::string& key,
                                              const std::string& value,
                                              Duration within) {
  return commit({.then = {Put{key, value}}}, within);
}

std::future<Result<LeaseAnswer>> DriverBed::grant(LeaseId lease, Seconds ttl, Duration within) {
  Promised<LeaseAnswer> promised;
  auto answer = promised.promise->get_future();
  on_env([&] { driver_->grant(lease, ttl, env_->now() + within, promised); });
  return answer;
}

std::future<Result<LeaseAnswer>> DriverBed::keep_alive(LeaseId lease, Duration within) {
  Promised<LeaseAnswer> promised;
  auto answer = promised.promise->get_future();
  on_env([&] { driver_->keep_alive(lease, env_->now() + within, promised); });
  return answer;
}

EtcdDriver::Stats DriverBed::stats() {
  EtcdDriver::Stats stats;
  on_env([&] { stats = driver_->stats(); });
  return stats;
}

OnWatch Ear::on_watch() {
  return [box = box_](const WatchNews& news) {
    const std::lock_guard lock{box->mutex};
    switch (news.kind) {
      case WatchNews::Kind::watching:
        box->heard.push_back("watching");
        break;
      case WatchNews::Kind::compacted:
        box->heard.push_back("compacted");
        break;
      case WatchNews::Kind::refused:
        box->heard.push_back("refused: " + news.text);
        break;
      case WatchNews::Kind::changes:
        for (const Change& change : news.changes) {
          box->heard.push_back(change.kind == Change::Kind::put
                                   ? "put " + change.entry.key + '=' + change.entry.value
                                   : "erased " + change.entry.key);
        }
        break;
    }
    box->changed.notify_all();
  };
}

std::string Ear::next() {
  std::unique_lock lock{box_->mutex};
  if (!box_->changed.wait_for(lock, kBound, [this] { return !box_->heard.empty(); })) {
    return "nothing";
  }
  std::string first = std::move(box_->heard.front());
  box_->heard.pop_front();
  return first;
}

}  // namespace holdfast::etcd
