#include "engines/zookeeper/driver/zookeeper_driver.h"

#include <utility>

#include "base/assert.h"
#include "engines/zookeeper/driver/session_line.h"

namespace holdfast::zookeeper {
namespace {

class DriverSession final : public ZookeeperSession {
 public:
  explicit DriverSession(std::shared_ptr<DriverLine> line) : line_{std::move(line)} {}
  ~DriverSession() override { line_->abandon(); }
  DriverSession(const DriverSession&) = delete;
  DriverSession& operator=(const DriverSession&) = delete;

  void send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) override {
    line_->send(std::move(request), answer_by, std::move(on_answer));
  }
  void unwatch(const std::string& path) override { line_->unwatch(path); }
  void close() override { line_->close(); }

 private:
  std::shared_ptr<DriverLine> line_;
};

}  // namespace

ZookeeperDriver::ZookeeperDriver(runtime::AsioEnv& env,
                                 ZookeeperTarget target,
                                 ZookeeperDriverSettings settings)
    : context_{std::make_shared<SessionContext>(
          SessionContext{.env = env, .target = std::move(target), .settings = settings})} {
  HOLDFAST_ASSERT(!context_->target.endpoints.empty());
}

ZookeeperDriver::~ZookeeperDriver() = default;

std::unique_ptr<ZookeeperSession> ZookeeperDriver::open(SessionAsk ask, OnEvent on_event) {
  auto line = std::make_shared<DriverLine>(context_, std::move(ask), std::move(on_event));
  line->open();
  return std::make_unique<DriverSession>(std::move(line));
}

const ZookeeperTarget& ZookeeperDriver::target() const { return context_->target; }

ZookeeperDriver::Stats ZookeeperDriver::stats() const {
  return {.requests = context_->requests, .connections = context_->connections};
}

}  // namespace holdfast::zookeeper
