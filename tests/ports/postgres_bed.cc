#include "tests/ports/postgres_bed.h"

#include <optional>
#include <utility>

#include "base/decimal.h"
#include "engines/postgres/array_text.h"

namespace holdfast::ports {

using namespace postgres;
using Kind = SessionEvent::Kind;

PostgresTalks::~PostgresTalks() {
  bed_.on_env([this] { talks_.clear(); });
}

Result<Answer> PostgresTalks::try_ask(const Statement& statement, std::vector<Value> args) {
  std::optional<Result<Answer>> answer;
  bed_.on_env([&] {
    bed_.port().send(share({.statement = &statement, .args = std::move(args)}),
                     bed_.env().now() + kPostgresBound,
                     [&](Result<Answer> given) { answer.emplace(std::move(given)); });
    EXPECT_FALSE(answer.has_value()) << "told inside the call";
  });
  const bool answered = bed_.go_on_until([&] { return answer.has_value(); });
  if (answered) return *std::move(answer);
  ADD_FAILURE() << "no answer to " << statement.name;
  return Unexpected{Error{Errc::internal, "no answer"}};
}

Rows PostgresTalks::ask(const Statement& statement, std::vector<Value> args) {
  const Result<Answer> answer = try_ask(statement, std::move(args));
  if (answer && std::holds_alternative<Rows>(*answer)) return std::get<Rows>(*answer);
  ADD_FAILURE() << statement.name << ": "
                << (answer ? std::get<Refusal>(*answer).message : answer.error().message);
  return {};
}

PostgresTalk& PostgresTalks::begin() {
  PostgresTalk& talk = talks_.emplace_back();
  bed_.on_env([&] {
    talk.session =
        bed_.port().open(bed_.env().now() + kPostgresBound,
                         [said = talk.said](const SessionEvent& event) { said->push_back(event); });
    EXPECT_TRUE(talk.said->empty()) << "told inside the call";
  });
  return talk;
}

PostgresTalk& PostgresTalks::open() {
  PostgresTalk& talk = begin();
  const SessionEvent event = next_event(talk);
  EXPECT_EQ(event.kind, Kind::connected) << (event.error ? event.error->message : "");
  return talk;
}

PostgresTalk& PostgresTalks::attend() {
  static int numbers = 0;
  PostgresTalk& talk = open();
  talk.number = std::to_string(++numbers);
  send(talk, kAttendStatement, {talk.number});
  const Result<Answer> answer = next_answer(talk);
  EXPECT_TRUE(answer && *answer == Answer{Rows{{"t"}}});
  return talk;
}

void PostgresTalks::leave(PostgresTalk& talk) {
  bed_.on_env([&] { talk.session.reset(); });
  const TimePoint end = bed_.env().now() + kPostgresBound;
  while (!talk.number.empty() && bed_.attended(talk.number)) {
    ASSERT_LT(bed_.env().now(), end) << "the session did not end";
    const TimePoint again = bed_.env().now() + std::chrono::milliseconds{1};
    bed_.go_on_until([&] { return bed_.env().now() >= again; });
  }
}

void PostgresTalks::send(PostgresTalk& talk, const Statement& statement, std::vector<Value> args) {
  bed_.on_env([&] {
    const std::size_t before = talk.said->size();
    talk.session->send(
        share({.statement = &statement, .args = std::move(args)}),
        bed_.env().now() + kPostgresBound,
        [said = talk.said](Result<Answer> answer) { said->push_back(std::move(answer)); });
    EXPECT_EQ(talk.said->size(), before) << "told inside the call";
  });
}

PostgresTalk::Word PostgresTalks::next(PostgresTalk& talk) {
  EXPECT_TRUE(bed_.go_on_until([&] { return !talk.said->empty(); })) << "nothing was told";
  PostgresTalk::Word word = Result<Answer>{Unexpected{Error{Errc::internal, "nothing was told"}}};
  bed_.on_env([&] {
    if (talk.said->empty()) return;
    word = std::move(talk.said->front());
    talk.said->pop_front();
  });
  return word;
}

SessionEvent PostgresTalks::next_event(PostgresTalk& talk) {
  const PostgresTalk::Word word = next(talk);
  if (const auto* const event = std::get_if<SessionEvent>(&word)) return *event;
  ADD_FAILURE() << "an answer came before the event";
  return {};
}

Result<Answer> PostgresTalks::next_answer(PostgresTalk& talk) {
  PostgresTalk::Word word = next(talk);
  if (auto* const answer = std::get_if<Result<Answer>>(&word)) return std::move(*answer);
  ADD_FAILURE() << "an event came before the answer";
  return Unexpected{Error{Errc::internal, "an event"}};
}

std::string PostgresTalks::next_notice(PostgresTalk& talk) {
  const SessionEvent event = next_event(talk);
  EXPECT_EQ(event.kind, Kind::notified);
  EXPECT_EQ(event.channel, "holdfast_" + talk.number);
  return event.payload;
}

std::string PostgresPortTest::fresh_root() {
  static int tests = 0;
  return "test" + std::to_string(++tests) + "/";
}

Row PostgresPortTest::acquire(const Asked& asked) {
  const Rows rows = talks_.ask(kAcquireStatement,
                               {at("a"),
                                asked.owner,
                                asked.ttl,
                                "note of " + asked.owner,
                                asked.claim,
                                asked.delay,
                                asked.session,
                                asked.waits});
  if (rows.size() == 1 && rows.front().size() == 4) return rows.front();
  ADD_FAILURE() << "not one row of four";
  return Row(4);
}

std::string PostgresPortTest::outcome(const Asked& asked) {
  return acquire(asked).at(0).value_or("NULL");
}

std::uint64_t PostgresPortTest::take(const Asked& asked) {
  const Row row = acquire(asked);
  EXPECT_EQ(row.at(0), "granted");
  return parse_decimal<std::uint64_t>(row.at(1).value_or("")).value_or(0);
}

bool PostgresPortTest::release(const std::string& owner, Value token) {
  const Rows rows = talks_.ask(kReleaseStatement, {at("a"), owner, std::move(token)});
  return rows == Rows{{"t"}};
}

std::string PostgresPortTest::token_of(const std::string& owner) {
  return talks_.ask(kConfirmStatement, {at("a"), owner}).at(0).at(0).value_or("");
}

std::string PostgresPortTest::renew(const std::string& owner,
                                    std::uint64_t token,
                                    const char* ttl) {
  const Rows rows = talks_.ask(kRenewStatement,
                               {array_text({at("a")}),
                                array_text({owner}),
                                array_text({std::to_string(token)}),
                                ttl,
                                std::nullopt});
  return rows.size() == 1 ? rows.front().at(0).value_or("NULL") : "no row";
}

}  // namespace holdfast::ports
