// Random requests and watches from a seed on model and server, which must answer alike.
//
// The server is shared, so that its zxids and sessions are others than the model's: each is shown
// by its place among those that were seen before.

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <sstream>

#include "sim/zookeeper/zookeeper_bed.h"
#include "tests/ports/zookeeper_bed.h"

namespace holdfast::ports {
namespace {

using namespace zookeeper;

constexpr std::uint64_t kSequences = 15;
constexpr int kStepsPerSequence = 25;
constexpr std::size_t kSessions = 2;

/// How one side's numbers are shown.
struct Labels {
  std::map<Zxid, std::size_t> zxids{{0, 0}};
  std::map<SessionId, std::size_t> sessions{{SessionId{}, 0}};

  std::size_t of(Zxid zxid) { return zxids.try_emplace(zxid, zxids.size()).first->second; }
  std::size_t of(SessionId id) const {
    const auto found = sessions.find(id);
    return found == sessions.end() ? 99 : found->second;
  }
};

class ZookeeperDifferenceTest : public ZookeeperPortTest {
 protected:
  ZookeeperDifferenceTest() {
    for (std::size_t i = 0; i < kSessions; ++i) {
      on_model_.push_back(std::make_unique<Session>(model_.open(process_, Millis{20'000})));
      const auto& greeting = on_model_.back()->await(SessionEvent::Kind::connected);
      of_model_.sessions.emplace(greeting.key.id, i + 1);
      told_.push_back(on_model_.back()->events->size());
    }
  }

  void SetUp() override {
    ZookeeperPortTest::SetUp();
    for (std::size_t i = 0; i < kSessions; ++i) {
      on_server_.push_back(&open());
      of_server_.sessions.emplace(on_server_.back()->key.id, i + 1);
    }
    EXPECT_TRUE(on_model_[0]->ask(Create{.path = at("")}));
  }

  std::size_t below(std::size_t bound) { return chance_() % bound; }

  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  std::string any_path() { return path_ + one_of({"", "/a", "/a/b", "/a/b/c", "/e", "/e/f"}); }
  std::string any_data() { return one_of({"", "x", "longer"}); }
  Version any_version() { return one_of({kAnyVersion, kAnyVersion, Version{0}, Version{1}}); }
  Watching any_watching() { return one_of({Watching::no, Watching::yes}); }

  Create any_create() {
    using Kind = Create::Kind;
    const auto kind = one_of({Kind::persistent,
                              Kind::persistent,
                              Kind::ephemeral,
                              Kind::persistent_sequential,
                              Kind::ephemeral_sequential});
    return {.path = any_path(), .data = any_data(), .kind = kind};
  }

  Multi any_multi() {
    Multi multi;
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      switch (below(4)) {
        case 0:
          multi.steps.emplace_back(any_create());
          break;
        case 1:
          multi.steps.emplace_back(Erase{.path = any_path(), .version = any_version()});
          break;
        case 2:
          multi.steps.emplace_back(Write{any_path(), any_data(), any_version()});
          break;
        default:
          multi.steps.emplace_back(Check{.path = any_path(), .version = any_version()});
      }
    }
    return multi;
  }

  Request any_request() {
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        return any_create();
      case 3:
        return Erase{.path = any_path(), .version = any_version()};
      case 4:
        return Write{any_path(), any_data(), any_version()};
      case 5:
        return any_multi();
      case 6:
        return Read{.path = any_path(), .watching = any_watching()};
      case 7:
        return Exists{.path = any_path(), .watching = any_watching()};
      default:
        return List{.path = any_path(), .watching = any_watching()};
    }
  }

  std::string shown(const Answer& answer, Labels& labels) const {
    std::ostringstream text;
    text << "verdict " << static_cast<int>(answer.verdict) << " path " << answer.path << " data "
         << answer.data;
    if (answer.verdict == Verdict::done) {
      const NodeStat& stat = answer.stat;
      text << " created #" << labels.of(stat.created) << " modified #" << labels.of(stat.modified)
           << " children #" << labels.of(stat.children_modified) << " versions " << stat.version
           << ' ' << stat.children_version << " counts " << stat.children << ' ' << stat.data_size
           << " owner " << labels.of(stat.owner);
    }
    std::vector<std::string> children = answer.children;
    std::ranges::sort(children);
    for (const std::string& child : children) text << ' ' << child;
    for (const Answer& step : answer.steps) text << "\n  " << shown(step, labels);
    return text.str();
  }

  std::string shown(const Result<Answer>& answer, Labels& labels) const {
    if (answer) return shown(*answer, labels);
    return "error " + std::string{to_string(answer.error().code)};
  }

  static std::string shown(const SessionEvent& event) {
    return "\nevent " + std::to_string(static_cast<int>(event.kind)) + ' ' +
           std::to_string(static_cast<int>(event.change)) + ' ' + event.path;
  }

  /// The answer, and what the sessions have heard when all of it has arrived.
  std::string on_model(std::size_t who, const Request& request) {
    std::string text = shown(on_model_[who]->ask(request), of_model_);
    for (std::size_t i = 0; i < kSessions; ++i) {
      EXPECT_TRUE(on_model_[i]->ask(Sync{}));
      const auto& events = *on_model_[i]->events;
      text += "\nsession " + std::to_string(i);
      for (; told_[i] < events.size(); ++told_[i]) text += shown(events[told_[i]]);
    }
    return text;
  }

  std::string on_server(std::size_t who, const Request& request) {
    std::string text;
    send(*on_server_[who], {request});
    std::array<std::string, kSessions> heard;
    text = shown(answer_after(*on_server_[who], heard[who]), of_server_);
    for (std::size_t i = 0; i < kSessions; ++i) {
      send(*on_server_[i], {Sync{}});
      EXPECT_TRUE(answer_after(*on_server_[i], heard[i]));
      text += "\nsession " + std::to_string(i) + heard[i];
    }
    return text;
  }

  /// The next answer; what comes before it is added to `heard`.
  Result<Answer> answer_after(Talk& talk, std::string& heard) {
    while (true) {
      Talk::Word word = next(talk);
      if (auto* const answer = std::get_if<Result<Answer>>(&word)) return std::move(*answer);
      heard += shown(std::get<SessionEvent>(word));
    }
  }

  void run_sequence(std::uint64_t sequence) {
    path_ = at("s" + std::to_string(sequence));
    for (int step = 0; step < kStepsPerSequence && !HasFailure(); ++step) {
      const std::size_t who = below(kSessions);
      const Request request = step == 0 ? Request{Create{.path = path_}} : any_request();
      const std::string model = on_model(who, request);
      EXPECT_EQ(model, on_server(who, request))
          << "sequence " << sequence << " step " << step << " request " << request.index();
    }
  }

  using Session = sim::ZookeeperBed::Session;

  std::mt19937_64 chance_{7};
  std::string path_;
  sim::ZookeeperBed model_{1};
  sim::ZookeeperBed::Process& process_{model_.start()};
  std::vector<std::unique_ptr<Session>> on_model_;
  /// How many events of each session were looked at.
  std::vector<std::size_t> told_;
  std::vector<Talk*> on_server_;
  Labels of_model_;
  Labels of_server_;
};

TEST_P(ZookeeperDifferenceTest, ModelAndServerAnswerAlike) {
  for (std::uint64_t i = 0; i < kSequences && !HasFailure(); ++i) run_sequence(i);
}

INSTANTIATE_TEST_SUITE_P(Server,
                         ZookeeperDifferenceTest,
                         testing::Values(&make_zookeeper_server_bed),
                         [](const auto&) { return std::string{"Server"}; });

}  // namespace
}  // namespace holdfast::ports
