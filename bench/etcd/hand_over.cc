#include "bench/etcd/hand_over.h"

#include "bench/etcd/bare_client.h"
#include "bench/queue_hand_over.h"

namespace holdfast::bench {
namespace {

constexpr auto kBareKey = "bare/turn";

class EtcdGiver final : public BareGiver {
 public:
  explicit EtcdGiver(BareEtcd bare) : bare_{std::move(bare)} {}

  void put() override { bare_.round_trip(put_); }
  void erase() override { bare_.round_trip(erase_); }
  std::size_t contenders(const std::string& name) override {
    return static_cast<std::size_t>(bare_.contenders(name));
  }

 private:
  BareEtcd bare_;
  const BareTxn put_ = BareEtcd::put(kBareKey);
  const BareTxn erase_ = BareEtcd::erase(kBareKey);
};

class EtcdReceiver final : public BareReceiver {
 public:
  explicit EtcdReceiver(BareEtcd bare) : bare_{std::move(bare)} {}

  void watch() override {
    if (holds_) bare_.round_trip(txns_.give_up);
    holds_ = false;
  }
  void wait() override { watch_.wait(); }
  void ask() override {
    bare_.round_trip(txns_.take);
    holds_ = true;
  }

 private:
  BareEtcd bare_;
  BareWatch watch_{bare_.channel(), kBareKey};
  const BarePair txns_ = bare_.pair_for("bare");
  bool holds_{false};
};

template <class End, class Base>
Result<std::unique_ptr<Base>> connect(std::uint16_t port) {
  auto bare = BareEtcd::connect(port);
  if (!bare) return Unexpected{bare.error()};
  return std::unique_ptr<Base>{std::make_unique<End>(*std::move(bare))};
}

}  // namespace

Result<void> add_hand_over(Report& report, const EtcdServer& server, const Progress& progress) {
  progress("hand-over between two processes");
  const std::uint16_t port = server.port();
  return add_queue_hand_over(
      report,
      {.url = server.url(),
       .giver = [port] { return connect<EtcdGiver, BareGiver>(port); },
       .receiver = [port] { return connect<EtcdReceiver, BareReceiver>(port); },
       .limit_name = "bare erase to event + 1.2 txn"});
}

}  // namespace holdfast::bench
