#include "tests/postgres/driver_bed.h"

#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "engines/postgres/driver/postgres_url.h"

namespace holdfast::postgres {
namespace {

const Statement* statement_of(const char* sql) {
  static std::mutex mutex;
  static std::deque<std::pair<std::string, Statement>> known;
  const std::lock_guard lock{mutex};
  for (const auto& [text, statement] : known) {
    if (text == sql) return &statement;
  }
  auto& [text, statement] = known.emplace_back(sql, Statement{});
  statement = {.name = "", .sql = text};
  return &statement;
}

/// Sends through a port or a session. On the Env's thread.
template <class Way>
std::future<Result<Answer>> send_by(Way& way, SharedCall call, TimePoint answer_by) {
  const auto promise = std::make_shared<std::promise<Result<Answer>>>();
  way->send(
      std::move(call), answer_by, [promise](auto given) { promise->set_value(std::move(given)); });
  return promise->get_future();
}

}  // namespace

SharedCall plain(const char* sql, std::vector<Value> args) {
  return share({.statement = statement_of(sql), .args = std::move(args)});
}

std::string shown(const Result<Answer>& answer) {
  if (!answer) return '?' + std::string{to_string(answer.error().code)};
  if (const auto* const refusal = std::get_if<Refusal>(&*answer)) return '!' + refusal->sqlstate;
  std::string text;
  for (const Row& row : std::get<Rows>(*answer)) {
    if (!text.empty()) text += ';';
    for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "|" : "") + row[i].value_or("-");
  }
  return text;
}

Error error_of(const Result<Answer>& answer) {
  return answer ? Error{Errc::internal, "answered"} : answer.error();
}

PostgresTarget target_of(const std::string& url) {
  auto parsed = parse_postgres_url(url);
  if (!parsed) throw std::runtime_error{parsed.error().message};
  return parsed->target;
}

DriverBed::DriverBed(const std::string& url, PostgresDriverSettings settings)
    : env_{*runtime::AsioEnv::create()},
      driver_{*PostgresDriver::create(*env_, target_of(url), settings)} {}

DriverBed::~DriverBed() {
  on_env([this] { driver_.reset(); });
}

std::future<Result<Answer>> DriverBed::send(SharedCall call, Duration within) {
  return std::move(send_all({std::move(call)}, within).front());
}

std::vector<std::future<Result<Answer>>> DriverBed::send_all(const std::vector<SharedCall>& calls,
                                                             Duration within) {
  std::vector<std::future<Result<Answer>>> answers;
  on_env([&] {
    const TimePoint answer_by = env_->now() + within;
    for (const SharedCall& call : calls) answers.push_back(send_by(driver_, call, answer_by));
  });
  return answers;
}

Result<Answer> DriverBed::ask(SharedCall call, Duration within) {
  return get(send(std::move(call), within));
}

std::string DriverBed::insist(const char* sql) {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    const auto answer = ask(sql);
    if (answer) return shown(answer);
  }
  std::fprintf(stderr, "no answer, however often it was asked for\n");
  std::abort();
}

PostgresPort::Direct DriverBed::direct() {
  PostgresPort::Direct direct{};
  on_env([&] { direct = driver_->direct(); });
  return direct;
}

PostgresDriver::Stats DriverBed::stats() {
  PostgresDriver::Stats stats;
  on_env([&] { stats = driver_->stats(); });
  return stats;
}

BedSession::BedSession(DriverBed& bed, Duration within) : bed_{bed} {
  bed_.on_env([&] {
    session_ = bed_.driver()->open(bed_.env().now() + within,
                                   [box = box_](const SessionEvent& event) { box->put(event); });
  });
}

BedSession::~BedSession() { end(); }

void BedSession::end() {
  bed_.on_env([this] { session_.reset(); });
}

std::future<Result<Answer>> BedSession::send(SharedCall call, Duration within) {
  std::future<Result<Answer>> answer;
  bed_.on_env([&] { answer = send_by(session_, std::move(call), bed_.env().now() + within); });
  return answer;
}

Result<Answer> BedSession::ask(SharedCall call, Duration within) {
  return get(send(std::move(call), within));
}

std::int32_t BedSession::backend() {
  std::int32_t backend = 0;
  bed_.on_env([&] { backend = session_->backend(); });
  return backend;
}

}  // namespace holdfast::postgres
