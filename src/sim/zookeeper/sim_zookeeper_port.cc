#include "sim/zookeeper/sim_zookeeper_port.h"

#include <utility>

#include "sim/zookeeper/sim_zookeeper_session.h"

namespace holdfast::sim {
namespace {

using namespace zookeeper;

class Handle final : public ZookeeperSession {
 public:
  explicit Handle(std::shared_ptr<SimZookeeperSession> session) : session_{std::move(session)} {}
  ~Handle() override { session_->end(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) override {
    session_->send(std::move(request), answer_by, std::move(on_answer));
  }
  void unwatch(const std::string& path) override { session_->unwatch(path); }
  void close() override { session_->close(); }

 private:
  std::shared_ptr<SimZookeeperSession> session_;
};

}  // namespace

std::unique_ptr<ZookeeperSession> SimZookeeperPort::open(SessionAsk ask, OnEvent on_event) {
  auto session = std::make_shared<SimZookeeperSession>(route_, std::move(ask), std::move(on_event));
  session->begin();
  return std::make_unique<Handle>(std::move(session));
}

}  // namespace holdfast::sim
