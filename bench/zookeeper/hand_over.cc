#include "bench/zookeeper/hand_over.h"

#include "bench/queue_hand_over.h"
#include "bench/zookeeper/bare_client.h"

namespace holdfast::bench {
namespace {

constexpr auto kParent = "/bare-turn";
constexpr auto kNode = "/bare-turn/node";

class ZookeeperGiver final : public BareGiver {
 public:
  explicit ZookeeperGiver(std::unique_ptr<BareZookeeper> bare) : bare_{std::move(bare)} {
    bare_->create_parent(kParent);
  }

  void put() override { bare_->create(kNode); }
  void erase() override { bare_->erase(kNode); }
  std::size_t contenders(const std::string& name) override {
    return bare_->children("/hf/" + name);
  }

 private:
  std::unique_ptr<BareZookeeper> bare_;
};

class ZookeeperReceiver final : public BareReceiver {
 public:
  explicit ZookeeperReceiver(std::unique_ptr<BareZookeeper> bare) : bare_{std::move(bare)} {}

  void watch() override { bare_->watch(kNode); }
  void wait() override { bare_->wait(); }
  void ask() override { bare_->children(kParent); }

 private:
  std::unique_ptr<BareZookeeper> bare_;
};

template <class End, class Base>
Result<std::unique_ptr<Base>> connect(std::uint16_t port) {
  auto bare = BareZookeeper::connect(port);
  if (!bare) return Unexpected{bare.error()};
  return std::unique_ptr<Base>{std::make_unique<End>(*std::move(bare))};
}

}  // namespace

Result<void> add_hand_over(Report& report,
                           const ZookeeperServer& server,
                           const Progress& progress) {
  progress("hand-over between two processes");
  const std::uint16_t port = server.port();
  return add_queue_hand_over(
      report,
      {.url = server.url(),
       .giver = [port] { return connect<ZookeeperGiver, BareGiver>(port); },
       .receiver = [port] { return connect<ZookeeperReceiver, BareReceiver>(port); },
       .limit_name = "bare delete to event + 1.2 reads"});
}

}  // namespace holdfast::bench
