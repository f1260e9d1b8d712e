#include "engines/zookeeper/zookeeper_testing.h"

#include <utility>

namespace holdfast::zookeeper::testing {
namespace {

class TestSession final : public ZookeeperSession {
 public:
  TestSession(sim::SimEnv& env,
              std::unique_ptr<ZookeeperSession> session,
              std::shared_ptr<Traffic> traffic)
      : env_{env}, session_{std::move(session)}, traffic_{std::move(traffic)} {}

  void send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) override {
    ++traffic_->requests;
    if (std::holds_alternative<Multi>(*request)) ++traffic_->beats;
    if (const auto* read = std::get_if<Read>(&*request); read && read->watching == Watching::yes) {
      traffic_->watched.insert(read->path);
    }
    const bool creates = std::holds_alternative<Create>(*request);
    if (creates) ++traffic_->creates;
    if (creates && traffic_->usurp) {
      std::exchange(traffic_->usurp, {})(request);
      return lose(std::move(on_answer));
    }
    if (creates && traffic_->lose_creates > 0) {
      --traffic_->lose_creates;
      return lose(std::move(on_answer));
    }
    if (creates && traffic_->delay_creates > 0) {
      --traffic_->delay_creates;
      env_.call_at(env_.now() + 2s, [session = session_, request, by = env_.now() + 1h] {
        session->send(request, by, [](const Result<Answer>&) {});
      });
      return lose(std::move(on_answer));
    }
    if (creates && traffic_->lose_created > 0) {
      --traffic_->lose_created;
      session_->send(std::move(request), answer_by, [](const Result<Answer>&) {});
      return lose(std::move(on_answer));
    }
    session_->send(std::move(request), answer_by, std::move(on_answer));
  }
  void unwatch(const std::string& path) override {
    traffic_->watched.erase(path);
    session_->unwatch(path);
  }
  void close() override {
    ++traffic_->closed;
    session_->close();
  }

 private:
  void lose(OnAnswer on_answer) {
    env_.call_at(env_.now() + 50ms, [then = std::make_shared<OnAnswer>(std::move(on_answer))] {
      (*then)(Unexpected{Error{Errc::unknown_outcome, "no answer"}});
    });
  }

  sim::SimEnv& env_;
  std::shared_ptr<ZookeeperSession> session_;
  std::shared_ptr<Traffic> traffic_;
};

}  // namespace

std::unique_ptr<ZookeeperSession> TestPort::open(SessionAsk ask, OnEvent on_event) {
  ++(ask.resume ? traffic->resumed : traffic->opened);
  if (traffic->forgetful) ask.resume.reset();
  auto heard = [told = traffic, then = std::move(on_event)](const SessionEvent& event) {
    const bool news = event.kind == SessionEvent::Kind::changed;
    if (news && told->deaf) return;
    if (news) told->watched.erase(event.path);
    if (event.kind == SessionEvent::Kind::connected) told->key = event.key;
    then(event);
  };
  return std::make_unique<TestSession>(
      env_, port_->open(std::move(ask), std::move(heard)), traffic);
}

Answer ZookeeperEngineTest::ask(Request request) {
  auto answer = hand_session_.ask(std::move(request));
  EXPECT_TRUE(answer);
  return answer ? *answer : Answer{};
}

std::vector<Child> ZookeeperEngineTest::contenders(const std::string& name) {
  ask(Sync{});
  return in_order(ask(List{.path = "/hf/" + name}).children);
}

void ZookeeperEngineTest::end_session(const Locker& who) {
  const SessionKey key = who.port->traffic->key;
  sim::ZookeeperBed::Session other{bed_, hand_, {.timeout = 10s, .resume = key}};
  other.await(SessionEvent::Kind::connected);
  other.session->close();
  EXPECT_TRUE(run_until([&] { return !bed_.ensemble.has_session(key.id); }));
}

}  // namespace holdfast::zookeeper::testing
