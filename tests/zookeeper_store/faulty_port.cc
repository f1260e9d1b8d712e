#include "tests/zookeeper_store/faulty_port.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::zookeeper_store {
namespace {

using namespace zookeeper;

bool only_looks(const Request& request) {
  return std::holds_alternative<Read>(request) || std::holds_alternative<Exists>(request) ||
         std::holds_alternative<List>(request);
}

bool changes_a_key(const Request& request) {
  const auto* multi = std::get_if<Multi>(&request);
  return multi != nullptr && !std::ranges::all_of(multi->steps, [](const Multi::Step& step) {
           return std::holds_alternative<Check>(step);
         });
}

}  // namespace

Answer Server::serve(const Request& request) {
  if (std::holds_alternative<Sync>(request)) return {};
  if (only_looks(request)) return tree.look(request);
  Answer answer = tree.apply(request, SessionId{1}, ++zxid).answer;
  answer.stat.modified_at = time;
  return answer;
}

class FaultyPort::Session final : public ZookeeperSession {
 public:
  explicit Session(FaultyPort& port) : port_{port} {}

  void send(SharedRequest request, TimePoint, OnAnswer on_answer) override {
    const Fault fault = port_.next_fate(*request);
    auto answer = port_.meet(request, fault.fate);
    if (fault.meanwhile) fault.meanwhile();
    const auto receiver = std::make_shared<OnAnswer>(std::move(on_answer));
    port_.env_.post([receiver, answer = std::move(answer)] { (*receiver)(answer); });
  }
  void unwatch(const std::string&) override {}
  void close() override {}

 private:
  FaultyPort& port_;
};

std::unique_ptr<ZookeeperSession> FaultyPort::open(SessionAsk, OnEvent on_event) {
  const std::lock_guard lock{mutex_};
  ++sessions_;
  on_event_ = std::move(on_event);
  return std::make_unique<Session>(*this);
}

Fault FaultyPort::next_fate(const Request& request) {
  const std::lock_guard lock{mutex_};
  const bool changes = changes_a_key(request);
  if (changes || std::holds_alternative<Read>(request)) ++sent_;
  if (!changes || faults_.empty()) return {usual_};
  Fault fault = std::move(faults_.front());
  faults_.pop_front();
  return fault;
}

Result<Answer> FaultyPort::meet(const SharedRequest& request, Fate fate) {
  if (fate == Fate::not_sent) return Unexpected{Error{Errc::unavailable, "not sent"}};
  if (fate == Fate::locked_out) return Unexpected{Error{Errc::denied, "locked out"}};
  if (fate == Fate::delayed) {
    const std::lock_guard lock{mutex_};
    delayed_.push_back(request);
  }
  if (fate == Fate::answered || fate == Fate::answer_lost) {
    const std::lock_guard lock{server_.mutex};
    Answer answer = server_.serve(*request);
    if (fate == Fate::answered) return answer;
  }
  return Unexpected{Error{Errc::unknown_outcome, "no answer"}};
}

void FaultyPort::expect(std::vector<Fault> faults) {
  const std::lock_guard lock{mutex_};
  for (Fault& fault : faults) faults_.push_back(std::move(fault));
}

void FaultyPort::always(Fate fate) {
  const std::lock_guard lock{mutex_};
  usual_ = fate;
}

bool FaultyPort::deliver() {
  SharedRequest request;
  {
    const std::lock_guard lock{mutex_};
    request = delayed_.front();
    delayed_.pop_front();
  }
  const std::lock_guard lock{server_.mutex};
  return server_.serve(*request).verdict == Verdict::done;
}

int FaultyPort::sent() const {
  const std::lock_guard lock{mutex_};
  return sent_;
}

int FaultyPort::sessions() const {
  const std::lock_guard lock{mutex_};
  return sessions_;
}

void FaultyPort::expire() {
  const std::lock_guard lock{mutex_};
  env_.post([on_event = on_event_] { on_event({.kind = SessionEvent::Kind::expired}); });
}

}  // namespace holdfast::zookeeper_store
