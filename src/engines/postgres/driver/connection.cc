#include "engines/postgres/driver/connection.h"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/decimal.h"
#include "engines/postgres/driver/result_reader.h"

namespace holdfast::postgres {
namespace {

constexpr Statement kWho{"", "SELECT pg_backend_pid()"};

/// $1 keep-alive's idle time and $2 interval in seconds, $3 TCP's own patience in milliseconds.
constexpr Statement kSettle{
    "",
    "SELECT set_config('tcp_keepalives_idle', $1, false),"
    " set_config('tcp_keepalives_interval', $2, false),"
    " set_config('tcp_keepalives_count', '2', false),"
    " set_config('tcp_user_timeout', $3, false),"
    " set_config('default_transaction_isolation', 'read committed', false)"};
/// Since version 14. $1 how often it looks for us, in milliseconds.
constexpr Statement kLookForUs{"",
                               "SELECT set_config('client_connection_check_interval', $1, false)"};
constexpr Statement kStay{"", "SELECT set_config('idle_session_timeout', '0', false)"};
constexpr int kWithLooks = 140000;

bool has_nul(const Call& call) {
  return std::ranges::any_of(call.args, [](const Value& value) {
    return value && value->find('\0') != std::string::npos;
  });
}

}  // namespace

std::shared_ptr<Connection> Connection::open(std::shared_ptr<Server> server, Use use, User& user) {
  auto connection = std::make_shared<Connection>(std::move(server), use, user);
  connection->wire_ = Wire::open(connection->server_, *connection);
  return connection;
}

Connection::Connection(std::shared_ptr<Server> server, Use use, User& user)
    : server_{std::move(server)}, use_{use}, user_{user}, deadline_timer_{server_->env, [this] {
                                                                            look_at_deadlines();
                                                                          }} {}

Connection::~Connection() { wire_->close(); }

void Connection::on_connected() {
  const auto self = shared_from_this();
  ask_who();
}

void Connection::ask_who() {
  hand_over({.call = share({.statement = &kWho, .args = {}}),
             .answer_by = server_->env.now() + server_->connect_timeout,
             .on_answer = [this](Result<Answer> answer) { who_told(answer); }});
  flush();
}

void Connection::who_told(const Result<Answer>& answer) {
  if (!answer) return;
  if (const Refusal* const refusal = std::get_if<Refusal>(&*answer)) {
    return give_up({{Errc::unavailable, "PostgreSQL: " + refusal->message}});
  }
  const Rows& rows = std::get<Rows>(*answer);
  if (rows.empty() || rows.front().empty()) return give_up(stranger(at()));
  backend_ = parse_decimal<std::int32_t>(rows.front().front().value_or("")).value_or(0);
  const bool is_direct = backend_ == PQbackendPID(wire_->client());
  server_->direct = is_direct ? PostgresPort::Direct::yes : PostgresPort::Direct::no;
  server_->failures = 0;
  if (is_direct) settle();
  ready_ = true;
  user_.on_ready();
}

// Nobody waits for these: a server that does not know one goes without.
void Connection::settle() {
  const Parameters& ours = server_->parameters;
  const Call calls[] = {
      {&kSettle,
       {ours.at("keepalives_idle"), ours.at("keepalives_interval"), ours.at("tcp_user_timeout")}},
      {&kLookForUs, {std::to_string(server_->settings.looks_for_us.count())}},
      {&kStay, {}}};
  const bool has_looks = PQserverVersion(wire_->client()) >= kWithLooks;
  for (const Call& call : calls) {
    if (call.statement != &kSettle && !has_looks) continue;
    if (call.statement == &kStay && use_ == Use::statements) continue;
    ++settling_;
    hand_over({.call = share(call), .answer_by = TimePoint::max(), .on_answer = [this](auto) {
                 --settling_;
               }});
  }
}

void Connection::send(Request request) {
  HOLDFAST_ASSERT(ready_);
  ++server_->statements;
  hand_over(std::move(request));
}

void Connection::hand_over(Request request) {
  const TimePoint answer_by = request.answer_by;
  if (sent_.empty()) silent_since_ = server_->env.now();
  Sent& sent = sent_.emplace_back(Sent{.request = std::move(request)});
  if (answer_by != TimePoint::max()) deadline_timer_.set(answer_by);
  PGconn* const client = wire_->client();
  if (client == nullptr) return;
  const bool taken = hand_over_call(*sent.request.call, sent) == 1 && PQpipelineSync(client) == 1;
  if (!taken) give_up(failure_of(at(), PQerrorMessage(client)));
}

int Connection::hand_over_call(const Call& call, Sent& sent) {
  PGconn* const client = wire_->client();
  if (has_nul(call)) {
    sent.answer = Refusal{.sqlstate = "22021", .message = "text cannot have a zero byte in it"};
    return 1;
  }
  std::vector<const char*> values;
  for (const Value& value : call.args) values.push_back(value ? value->c_str() : nullptr);
  const auto count = static_cast<int>(values.size());
  const std::string_view name = call.statement->name;
  // Both live for the whole program, and end with a zero byte.
  const char* const sql = call.statement->sql.data();
  const bool by_name = !name.empty() && server_->direct == PostgresPort::Direct::yes;
  Known& known = prepared_[name];
  if (!by_name || known == Known::soon) {
    return PQsendQueryParams(
        client, sql, count, nullptr, values.data(), nullptr, nullptr, /*resultFormat=*/0);
  }
  if (known == Known::no) {
    if (PQsendPrepare(client, name.data(), sql, count, nullptr) == 0) return 0;
    known = Known::soon;
    sent.prepares = true;
  }
  return PQsendQueryPrepared(
      client, name.data(), count, values.data(), nullptr, nullptr, /*resultFormat=*/0);
}

void Connection::on_input() {
  const auto self = shared_from_this();
  silent_since_ = server_->env.now();
  take_results();
  tell_notifications();
  if (wire_->client() != nullptr && ready_) user_.on_told();
}

void Connection::take_results() {
  // Two in a row that are none: it has nothing more to tell, whatever is owed.
  for (int nothing = 0; nothing < 2 && !sent_.empty();) {
    PGconn* const client = wire_->client();
    if (client == nullptr || PQisBusy(client) == 1) return;
    PGresult* const result = PQgetResult(client);
    nothing = result == nullptr ? nothing + 1 : 0;
    if (result == nullptr) continue;
    const bool is_point = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    if (!is_point) take_result(result);
    PQclear(result);
    if (is_point) reached_point();
  }
}

void Connection::take_result(const pg_result* result) {
  Sent& sent = sent_.front();
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_FATAL_ERROR) {
    if (is_last_word(result)) return give_up(failure_of(at(), PQresultErrorMessage(result)));
    if (sent.prepares) prepared_[sent.request.call->statement->name] = Known::no;
    sent.prepares = false;
    sent.answer = refusal_of(result, at());
    if (forgets_statement(*sent.answer)) prepared_.erase(sent.request.call->statement->name);
  } else if (sent.prepares) {
    prepared_[sent.request.call->statement->name] = Known::yes;
    sent.prepares = false;
  } else if (!sent.answer && status == PGRES_TUPLES_OK) {
    sent.answer = rows_in(result);
  }
}

void Connection::reached_point() {
  // Out of the queue before it is told: the answer may bring the next statement.
  Sent sent = std::move(sent_.front());
  sent_.pop_front();
  if (sent.answered) return;
  tell(sent.request.on_answer, sent.answer ? *std::move(sent.answer) : Answer{Rows{}});
}

// Whoever was told before may have closed it.
void Connection::tell(OnAnswer& on_answer, Result<Answer> answer) {
  if (!closed_ && !user_.is_abandoned()) on_answer(std::move(answer));
}

// After the answers: what an answer knows of may be told again, but nothing it does not know of is
// told before it.
void Connection::tell_notifications() {
  while (PGconn* const client = wire_->client()) {
    PGnotify* const notice = PQnotifies(client);
    if (notice == nullptr) return;
    std::string channel = notice->relname;
    std::string payload = notice->extra;
    PQfreemem(notice);
    user_.on_notified(std::move(channel), std::move(payload));
  }
}

void Connection::look_at_deadlines() {
  const auto self = shared_from_this();
  const TimePoint now = server_->env.now();
  answer_overdue(now);
  if (wire_->client() == nullptr) return;
  TimePoint next = TimePoint::max();
  bool has_overdue = false;
  for (const Sent& sent : sent_) {
    has_overdue = has_overdue || sent.answered;
    if (!sent.answered) next = std::min(next, sent.request.answer_by);
  }
  if (has_overdue) {
    // A server that hangs must not keep what is sent next: it gets a connection of its own.
    const TimePoint silent_until = silent_since_ + server_->settings.silence;
    if (use_ == Use::session || now >= silent_until) {
      return give_up({error_at(at(), Errc::unavailable, "no answer in time")});
    }
    next = std::min(next, silent_until);
  }
  if (next != TimePoint::max()) deadline_timer_.set(next);
}

// They keep their places, for the answers that may still come.
void Connection::answer_overdue(TimePoint now) {
  std::vector<OnAnswer> overdue;
  for (Sent& sent : sent_) {
    if (sent.answered || sent.request.answer_by > now) continue;
    overdue.push_back(std::move(sent.request.on_answer));
    sent.answered = true;
  }
  const Error late = error_at(at(), Errc::unknown_outcome, "no answer in time");
  for (OnAnswer& on_answer : overdue) tell(on_answer, Unexpected{late});
}

void Connection::on_broken(Failure failure) {
  const auto self = shared_from_this();
  if (!std::exchange(ready_, false)) {
    const BackoffPolicy& backoff = server_->settings.backoff;
    server_->not_before =
        server_->env.now() + backoff_delay(backoff, server_->failures++, server_->env.draw());
  }
  const Error lost{Errc::unknown_outcome,
                   failure.error.message + ", before a statement was answered"};
  for (Sent& sent : std::exchange(sent_, {})) {
    if (!sent.answered) tell(sent.request.on_answer, Unexpected{lost});
  }
  if (!closed_) user_.on_broken(std::move(failure));
}

void Connection::close() {
  closed_ = true;
  ready_ = false;
  wire_->close();
  // Dropping a callback unwinds its task, which may reach for this connection.
  settling_ = 0;
  const auto dropped = std::exchange(sent_, {});
}

}  // namespace holdfast::postgres
