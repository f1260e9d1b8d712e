// Random statements from a seed on model and server, which must answer and tell alike.
//
// Time must not decide: leases last long or not at all.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>

#include "base/decimal.h"
#include "engines/postgres/array_text.h"
#include "sim/postgres/postgres_node.h"
#include "tests/ports/postgres_bed.h"

namespace holdfast::ports {
namespace {

using namespace postgres;
using Texts = std::vector<std::string>;

constexpr std::uint64_t kSequences = 120;
constexpr int kCallsPerSequence = 25;

constexpr Statement kClearStatement{
    "test_clear",
    "WITH h AS (DELETE FROM holdfast.holder), w AS (DELETE FROM holdfast.waiter),"
    " b AS (DELETE FROM holdfast.broken) SELECT setval('holdfast.token', 1, false)"};
constexpr Statement kOrderStatement{"test_order", "SELECT hashtext($1) < hashtext($2)"};

/// What is left of a TTL may differ by what passed between the two.
bool alike(std::string_view model, std::string_view server) {
  constexpr std::int64_t kTtlMin = 50'000;
  constexpr std::int64_t kTtlMax = 4'000'000;
  constexpr std::int64_t kTolerance = 20'000;
  if (model == server) return true;
  const auto one = parse_decimal<std::int64_t>(model);
  const auto other = parse_decimal<std::int64_t>(server);
  if (!one || !other) return false;
  return *one >= kTtlMin && *one <= kTtlMax && std::abs(*one - *other) <= kTolerance;
}

bool alike(const Value& model, const Value& server) {
  if (!model || !server) return model == server;
  return alike(std::string_view{*model}, std::string_view{*server});
}

bool alike(const Answer& model, const Answer& server) {
  if (const auto* refusal = std::get_if<Refusal>(&model)) {
    const auto* other = std::get_if<Refusal>(&server);
    return other != nullptr && refusal->sqlstate == other->sqlstate;
  }
  const auto* rows = std::get_if<Rows>(&server);
  const auto same = [](const Row& one, const Row& other) {
    return std::ranges::equal(
        one, other, [](const Value& a, const Value& b) { return alike(a, b); });
  };
  return rows != nullptr && std::ranges::equal(std::get<Rows>(model), *rows, same);
}

/// Notices, whose last word may be a time.
bool notices_alike(const std::string& model, const std::string& server) {
  const std::size_t word = model.rfind(' ') + 1;
  return model.substr(0, word) == server.substr(0, word) &&
         alike(std::string_view{model}.substr(word), std::string_view{server}.substr(word));
}

std::string text_of(const Answer& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return "error " + refusal->sqlstate;
  std::string text;
  for (const Row& row : std::get<Rows>(answer)) {
    text += "(";
    for (const Value& value : row) text += value.value_or("NULL") + ", ";
    text += ")";
  }
  return text;
}

struct Step {
  const Statement* statement;
  std::vector<Value> args;

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    out << step.statement->name;
    for (const Value& arg : step.args) out << ' ' << arg.value_or("NULL");
    return out;
  }
};

/// Draws steps. `names`: in the order in which a refresh takes them.
class PostgresDice {
 public:
  PostgresDice(std::uint64_t seed, Texts names, Texts sessions)
      : engine_{seed}, names_{std::move(names)}, sessions_{std::move(sessions)} {}

  std::size_t below(std::size_t end) { return engine_() % end; }

  Step step() {
    switch (below(11)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return acquire();
      case 4:
        return refresh();
      case 5:
        return {&kConfirmStatement, {name(), owner()}};
      case 6:
      case 7:
        return {&kReleaseStatement, {name(), owner(), below(3) == 0 ? token() : Value{}}};
      case 8:
        return renew();
      case 9:
        return look();
      default:
        return {&kExtendStatement, {name(), owner(), ttl()}};
    }
  }

  std::uint64_t last_token{0};

 private:
  const std::string& one_of(const Texts& texts) { return texts[below(texts.size())]; }
  std::string name() { return one_of(names_); }
  std::string owner() { return one_of({"alice", "bob", "carol", "dave"}); }
  std::string claim() { return one_of({"x", "x", "x", "s", "s", "p1", "p2", "p2"}); }
  std::string ttl() { return one_of({"100000", "200000", "900000", "310000", "0", "0"}); }
  std::string delay() { return one_of({"0", "0", "0", "400000"}); }
  Value session() { return below(2) == 0 ? Value{} : one_of(sessions_); }
  std::string token() {
    const std::uint64_t back = below(4);
    return std::to_string(last_token > back ? last_token - back : 1);
  }

  Step acquire() {
    const std::string waits = one_of({"t", "t", "f"});
    return {&kAcquireStatement,
            {name(), owner(), ttl(), "a note", claim(), delay(), session(), waits}};
  }

  Step refresh() {
    std::vector<std::vector<Value>> columns(6);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::vector<Value> one{names_[i], owner(), ttl(), "its note", claim(), delay()};
      for (std::size_t c = 0; c < one.size(); ++c) columns[c].push_back(one[c]);
    }
    std::vector<Value> args;
    for (const auto& column : columns) args.push_back(array_text(column));
    args.push_back(session());
    return {&kRefreshStatement, args};
  }

  Step renew() {
    return {&kRenewStatement,
            {array_text({name()}), array_text({owner()}), array_text({token()}), ttl(), session()}};
  }

  Step look() {
    const std::size_t which = below(4);
    if (which == 0) return {&kBreakStatement, {name(), "why"}};
    if (which == 1) return {&kListStatement, {""}};
    return {&kInspectStatement, {name()}};
  }

  std::mt19937_64 engine_;
  Texts names_;
  Texts sessions_;
};

class PostgresDifferenceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 2; ++i) attend_on_both(talks_.attend());
    const bool in_order = talks_.ask(kOrderStatement, {"one", "two"}) == Rows{{"t"}};
    names_ = in_order ? Texts{"one", "two"} : Texts{"two", "one"};
    sessions_.push_back("4711");
  }

  void attend_on_both(PostgresTalk& talk) {
    sessions_.push_back(talk.number);
    server_talks_.push_back(&talk);
    heard_by_model_.emplace_back();
    const std::size_t index = heard_by_model_.size() - 1;
    const sim::BackendId backend =
        model_.connect({.notify =
                            [this, index](const std::string&, const std::string& text) {
                              heard_by_model_[index].push_back(text);
                            },
                        .ended = [] {}});
    model_.run({.statement = &kAttendStatement, .args = {talk.number}}, backend);
  }

  /// What the session heard since, `expected` of them at least. A notice may be told after the
  /// answer to what was asked later, but not long after.
  Texts heard_by_server(PostgresTalk& talk, std::size_t expected) {
    Texts heard;
    int answers = 0;
    talks_.send(talk, kInspectStatement, {"nobody"});
    talks_.send(talk, kInspectStatement, {"nobody"});
    while (answers < 2 || (heard.size() < expected && !HasFailure())) {
      const PostgresTalk::Word word = talks_.next(talk);
      const auto* event = std::get_if<SessionEvent>(&word);
      if (event != nullptr) heard.push_back(event->payload);
      if (event == nullptr) ++answers;
    }
    return heard;
  }

  /// What sessions heard differently.
  std::optional<std::string> difference_heard() {
    for (std::size_t i = 0; i < server_talks_.size(); ++i) {
      const Texts model = std::exchange(heard_by_model_[i], {});
      const Texts server = heard_by_server(*server_talks_[i], model.size());
      if (std::ranges::equal(model, server, notices_alike)) continue;
      return "session " + sessions_[i] + " heard " + testing::PrintToString(server) +
             ", in the model " + testing::PrintToString(model);
    }
    return std::nullopt;
  }

  /// The first difference of a sequence, and what led to it.
  std::optional<std::string> difference(std::uint64_t seed) {
    PostgresDice dice{seed, names_, sessions_};
    std::ostringstream so_far;
    so_far << "\nseed " << seed;
    talks_.ask(kClearStatement, {});
    model_.clear();
    for (Texts& heard : heard_by_model_) heard.clear();
    for (int call = 0; call < kCallsPerSequence; ++call) {
      const Step step = dice.step();
      const Answer server = talks_.try_ask(*step.statement, step.args).value();
      scheduler_.advance(std::chrono::milliseconds{1});
      const Answer model = model_.run({.statement = step.statement, .args = step.args});
      so_far << "\n  " << step << " -> " << text_of(server);
      if (!alike(model, server)) return "the model says " + text_of(model) + so_far.str();
      dice.last_token = model_.last_token();
      if (const auto heard = difference_heard()) return *heard + so_far.str();
    }
    return std::nullopt;
  }

  std::unique_ptr<PostgresPortBed> bed_ = make_postgres_server_bed();
  PostgresTalks talks_{*bed_};
  sim::Scheduler scheduler_;
  sim::PostgresNode model_{scheduler_};
  Texts names_;
  Texts sessions_;
  std::vector<PostgresTalk*> server_talks_;
  std::vector<Texts> heard_by_model_;
};

TEST_F(PostgresDifferenceTest, RandomStatementsAreAnsweredAlike) {
  for (std::uint64_t seed = 0; seed < kSequences; ++seed) {
    const auto found = difference(seed);
    ASSERT_FALSE(found.has_value()) << *found;
  }
}

TEST_F(PostgresDifferenceTest, AMistakeOfTheModelIsSeen) {
  using sim::Slip;
  for (const Slip slip : {Slip::token_anew,
                          Slip::holders_unseen,
                          Slip::expiry_unseen,
                          Slip::absence_unseen,
                          Slip::release_any,
                          Slip::renewal_revives}) {
    model_.set_slip(slip);
    bool seen = false;
    for (std::uint64_t seed = 0; seed < kSequences && !seen; ++seed) {
      seen = difference(seed).has_value();
    }
    EXPECT_TRUE(seen) << static_cast<int>(slip);
  }
}

TEST_F(PostgresDifferenceTest, TheComparisonSeesADifference) {
  const Answer granted = Rows{{"granted", "7", std::nullopt}};
  EXPECT_TRUE(alike(granted, granted));
  EXPECT_FALSE(alike(granted, Answer{Rows{{"granted", "8", std::nullopt}}}));
  EXPECT_FALSE(alike(granted, Answer{Rows{{"granted", "7", "x"}}}));
  EXPECT_FALSE(alike(granted, Answer{Rows{}}));
  EXPECT_FALSE(alike(granted, Answer{Refusal{.sqlstate = "22P02"}}));
  EXPECT_FALSE(alike(std::string_view{"100000"}, std::string_view{"200000"}));
  EXPECT_FALSE(notices_alike("granted alice", "granted bob"));
}

}  // namespace
}  // namespace holdfast::ports
