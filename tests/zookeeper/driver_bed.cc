#include "tests/zookeeper/driver_bed.h"

#include <cstdio>
#include <utility>

namespace holdfast::zookeeper {

ZookeeperTarget target_at(std::uint16_t port) { return {.endpoints = {{"127.0.0.1", port}}}; }

ZookeeperTarget target_of(const ZookeeperEnsemble& ensemble) {
  ZookeeperTarget target;
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    target.endpoints.push_back({"127.0.0.1", ensemble.node(i).ports().clients});
  }
  return target;
}

DriverBed::DriverBed(ZookeeperTarget target, ZookeeperDriverSettings settings)
    : env_{*runtime::AsioEnv::create()},
      driver_{std::make_unique<ZookeeperDriver>(*env_, std::move(target), settings)} {}

DriverBed::~DriverBed() {
  on_env([this] { driver_.reset(); });
}

BedSession::BedSession(DriverBed& bed, SessionAsk ask) : bed_{bed} {
  bed_.on_env([&] {
    session_ = bed_.driver()->open(std::move(ask),
                                   [box = box_](const SessionEvent& event) { box->put(event); });
  });
}

BedSession::~BedSession() {
  bed_.on_env([this] { session_.reset(); });
}

std::future<Result<Answer>> BedSession::send(Request request, Duration within) {
  const auto promise = std::make_shared<std::promise<Result<Answer>>>();
  auto answer = promise->get_future();
  bed_.on_env([&] {
    session_->send(share(std::move(request)), bed_.env().now() + within, [promise](auto given) {
      promise->set_value(std::move(given));
    });
  });
  return answer;
}

Result<Answer> BedSession::ask(Request request, Duration within) {
  return get(send(std::move(request), within));
}

Answer BedSession::insist(const Request& request) {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    if (auto answer = ask(request)) return *std::move(answer);
  }
  std::fprintf(stderr, "no answer, however often it was asked for\n");
  std::abort();
}

}  // namespace holdfast::zookeeper
