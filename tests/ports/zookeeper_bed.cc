#include "tests/ports/zookeeper_bed.h"

#include <utility>

namespace holdfast::ports {

using namespace zookeeper;

std::string ZookeeperPortTest::fresh_root() {
  static int tests = 0;
  return "/test" + std::to_string(++tests);
}

void ZookeeperPortTest::SetUp() {
  Talk& talk = open();
  EXPECT_EQ(verdict(talk, Create{.path = root_}), Verdict::done);
  close(talk);
}

void ZookeeperPortTest::TearDown() {
  bed_->on_env([this] { talks_.clear(); });
}

Talk& ZookeeperPortTest::begin(SessionAsk ask) {
  Talk& talk = talks_.emplace_back();
  bed_->on_env([&] {
    talk.session = bed_->port().open(
        std::move(ask), [said = talk.said](const SessionEvent& event) { said->push_back(event); });
    EXPECT_TRUE(talk.said->empty()) << "told inside the call";
  });
  return talk;
}

Talk& ZookeeperPortTest::open(Millis timeout) {
  Talk& talk = begin({.timeout = timeout});
  const SessionEvent event = next_event(talk);
  EXPECT_EQ(event.kind, SessionEvent::Kind::connected) << event.error.message;
  talk.key = event.key;
  return talk;
}

void ZookeeperPortTest::leave(Talk& talk) {
  bed_->on_env([&] { talk.session.reset(); });
}

void ZookeeperPortTest::close(Talk& talk) {
  bed_->on_env([&] {
    talk.session->close();
    talk.session.reset();
  });
}

void ZookeeperPortTest::send(Talk& talk, std::vector<Request> requests) {
  bed_->on_env([&] {
    const std::size_t before = talk.said->size();
    for (Request& request : requests) {
      talk.session->send(
          share(std::move(request)),
          bed_->env().now() + kZookeeperBound,
          [said = talk.said](Result<Answer> answer) { said->push_back(std::move(answer)); });
    }
    EXPECT_EQ(talk.said->size(), before) << "told inside the call";
  });
}

Talk::Word ZookeeperPortTest::next(Talk& talk) {
  EXPECT_TRUE(bed_->go_on_until([&] { return !talk.said->empty(); })) << "nothing was told";
  Talk::Word word = Result<Answer>{Unexpected{Error{Errc::internal, "nothing was told"}}};
  bed_->on_env([&] {
    if (talk.said->empty()) return;
    word = std::move(talk.said->front());
    talk.said->pop_front();
  });
  return word;
}

SessionEvent ZookeeperPortTest::next_event(Talk& talk) {
  const Talk::Word word = next(talk);
  if (const auto* const event = std::get_if<SessionEvent>(&word)) return *event;
  ADD_FAILURE() << "an answer came before the event";
  return {};
}

Result<Answer> ZookeeperPortTest::next_answer(Talk& talk) {
  Talk::Word word = next(talk);
  if (auto* const answer = std::get_if<Result<Answer>>(&word)) return std::move(*answer);
  ADD_FAILURE() << "an event came before the answer";
  return Unexpected{Error{Errc::internal, "an event"}};
}

std::string ZookeeperPortTest::next_change(Talk& talk) {
  const SessionEvent event = next_event(talk);
  if (event.kind != SessionEvent::Kind::changed) return "no change";
  static constexpr const char* kWords[] = {"created", "erased", "data", "children"};
  std::string path = event.path;
  if (path.starts_with(root_)) path.erase(0, std::min(path.size(), root_.size() + 1));
  return std::string{kWords[static_cast<int>(event.change)]} + ' ' + path;
}

Result<Answer> ZookeeperPortTest::try_ask(Talk& talk, Request request) {
  send(talk, {std::move(request)});
  return next_answer(talk);
}

Answer ZookeeperPortTest::ask(Talk& talk, Request request) {
  auto answer = try_ask(talk, std::move(request));
  if (answer) return *std::move(answer);
  ADD_FAILURE() << answer.error().message;
  return {};
}

Verdict ZookeeperPortTest::verdict(Talk& talk, Request request) {
  return ask(talk, std::move(request)).verdict;
}

Answer ZookeeperPortTest::create(Talk& talk, const std::string& name, const std::string& data) {
  Answer answer = ask(talk, Create{.path = at(name), .data = data});
  EXPECT_EQ(answer.verdict, Verdict::done) << name;
  return answer;
}

bool ZookeeperPortTest::vanishes(Talk& talk, const std::string& name) {
  // Time passes between two looks, or a model's clock would stand still.
  for (const TimePoint end = bed_->env().now() + kZookeeperBound; bed_->env().now() < end;) {
    if (verdict(talk, Exists{at(name)}) == Verdict::no_node) return true;
    const TimePoint again = bed_->env().now() + std::chrono::milliseconds{20};
    bed_->go_on_until([&] { return bed_->env().now() >= again; });
  }
  return false;
}

}  // namespace holdfast::ports
