// FakePort: a server that answers as a test tells it to, for tests of the engine's decisions.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/postgres/postgres_port.h"
#include "sim/world/sim_env.h"

namespace holdfast::postgres {

class FakePort final : public PostgresPort {
 public:
  explicit FakePort(sim::SimEnv& env) : env_{env} {}

  struct Sent {
    std::string statement;
    std::vector<Value> args;
  };

  void send(SharedCall call, TimePoint, OnAnswer on_answer) override {
    sent.push_back({std::string{call->statement->name}, call->args});
    answer_later(sent.back(), std::move(on_answer));
  }
  Direct direct() const override { return direct_now; }
  std::unique_ptr<PostgresSession> open(TimePoint, OnEvent on_event) override {
    ++opened;
    hears = std::move(on_event);
    tell({.kind = SessionEvent::Kind::connected});
    return std::make_unique<Session>(*this);
  }

  /// What the session hears, soon.
  void tell(SessionEvent event) {
    env_.call_at(env_.now(), [this, event = std::move(event)] { hears(event); });
  }
  void notify(const std::string& payload) {
    tell({.kind = SessionEvent::Kind::notified, .channel = "holdfast_1", .payload = payload});
  }
  void end_session() { tell({.kind = SessionEvent::Kind::ended, .error = Errc::unavailable}); }

  std::size_t count(std::string_view statement) const {
    std::size_t found = 0;
    for (const Sent& one : sent) found += one.statement == statement ? 1 : 0;
    return found;
  }

  Direct direct_now{Direct::yes};
  /// What is answered to a statement; nothing is: the answer was lost.
  std::function<std::optional<Rows>(const Sent&)> server;
  std::vector<Sent> sent;
  std::size_t opened{0};
  OnEvent hears;

 private:
  class Session final : public PostgresSession {
   public:
    explicit Session(FakePort& port) : port_{port} {}
    void send(SharedCall call, TimePoint by, OnAnswer on_answer) override {
      port_.send(std::move(call), by, std::move(on_answer));
    }
    std::int32_t backend() const override { return 1; }

   private:
    FakePort& port_;
  };

  void answer_later(const Sent& one, OnAnswer on_answer) {
    Result<Answer> answer = Unexpected{Error{Errc::unknown_outcome, "no answer"}};
    if (const auto rows = server(one)) answer = Answer{*rows};
    const auto later = std::make_shared<OnAnswer>(std::move(on_answer));
    env_.call_at(env_.now(), [later, answer] { (*later)(answer); });
  }

  sim::SimEnv& env_;
};

}  // namespace holdfast::postgres
