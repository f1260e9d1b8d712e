// ContendersEar: hears of every contender for a lock that comes or goes.
//
// Thread safety: as Env. Lifetime: keeps the port alive; nothing is told after its end.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/lock_desk.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

class ContendersEar final : public core::LockEar {
 public:
  ContendersEar(std::shared_ptr<EtcdPort> port, KeyRange contenders, std::function<void()> heard)
      : port_{std::move(port)} {
    auto on_watch = [refused = refused_, heard = std::move(heard)](const WatchNews& news) {
      if (news.kind == WatchNews::Kind::refused) *refused = true;
      heard();
    };
    watch_ = port_->watch(Watch{.keys = std::move(contenders)}, std::move(on_watch));
  }
  ~ContendersEar() override { port_->unwatch(watch_); }
  ContendersEar(const ContendersEar&) = delete;
  ContendersEar& operator=(const ContendersEar&) = delete;

  Millis trusted_for() const override { return *refused_ ? kDeaf : kHearing; }

 private:
  static constexpr Millis kHearing{5'000};
  static constexpr Millis kDeaf{200};

  std::shared_ptr<EtcdPort> port_;
  std::shared_ptr<bool> refused_{std::make_shared<bool>(false)};
  WatchId watch_{};
};

}  // namespace holdfast::etcd
