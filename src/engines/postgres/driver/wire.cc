#include "engines/postgres/driver/wire.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engines/postgres/driver/name_lookup.h"

namespace holdfast::postgres {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr Duration kLeastAttempt{std::chrono::milliseconds{250}};

/// A socket's own, for as long as it is open anywhere.
ino_t number_of(int socket) {
  struct stat status {};
  return fstat(socket, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

Wire::Wire(std::shared_ptr<Server> server, User& user)
    : server_{std::move(server)},
      user_{user},
      at_{server_->text()},
      attempt_timer_{server_->env, [this] { attempt_overdue(); }},
      socket_{server_->env.context()} {}

Wire::~Wire() { close(); }

std::shared_ptr<Wire> Wire::open(std::shared_ptr<Server> server, User& user) {
  std::shared_ptr<Wire> wire{new Wire{std::move(server), user}};
  wire->server_->env.post([wire] { wire->begin(); });
  return wire;
}

void Wire::begin() {
  if (state_ != State::connecting) return;
  if (std::ranges::all_of(server_->hosts, &Host::is_address)) return try_hosts(server_->hosts);
  server_->env.spawn(look_up_and_try(shared_from_this()));
}

Task<void> Wire::look_up_and_try(std::shared_ptr<Wire> self) {
  self->attempt_until_ = self->server_->env.now() + self->server_->connect_timeout;
  self->attempt_timer_.set(self->attempt_until_);
  FoundHosts found = co_await look_up(self->server_->env, self->server_->hosts);
  if (self->state_ != State::connecting) co_return;
  self->failures_ = std::move(found.failures);
  self->try_hosts(std::move(found.hosts));
}

void Wire::try_hosts(std::vector<Host> hosts) {
  hosts_ = std::move(hosts);
  try_next();
}

void Wire::try_next() {
  if (tried_ == hosts_.size()) return fail(all_of(failures_));
  const std::size_t next = (server_->first_host + tried_++) % hosts_.size();
  const auto count = static_cast<Duration::rep>(hosts_.size());
  const Duration limit = std::max(server_->connect_timeout / count, kLeastAttempt);
  attempt_until_ = server_->env.now() + limit;
  attempt_timer_.set(attempt_until_);
  start_at(hosts_[next]);
}

void Wire::start_at(const Host& host) {
  at_ = host.text();
  heard_ = false;
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  const auto add = [&](const char* keyword, const std::string& value) {
    keywords.push_back(keyword);
    values.push_back(value.c_str());
  };
  for (const auto& [keyword, value] : server_->parameters) add(keyword.c_str(), value);
  add("host", host.host);
  add("hostaddr", host.address);
  add("port", host.port);
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  client_ = PQconnectStartParams(keywords.data(), values.data(), /*expand_dbname=*/0);
  HOLDFAST_ASSERT(client_ != nullptr);
  if (PQstatus(client_) == CONNECTION_BAD) {
    return attempt_failed(failure_of(at_, PQerrorMessage(client_)));
  }
  PQsetErrorVerbosity(client_, PQERRORS_VERBOSE);
  PQsetNoticeReceiver(client_, &Wire::on_notice, this);
  look_at_socket();
  wait_for_room();
}

void Wire::poll() {
  if (!speaks_postgres()) return attempt_failed(stranger(at_));
  const PostgresPollingStatusType next = PQconnectPoll(client_);
  if (next == PGRES_POLLING_FAILED) return attempt_failed(failure_of(at_, PQerrorMessage(client_)));
  look_at_socket();
  if (next == PGRES_POLLING_OK) return connected();
  if (next == PGRES_POLLING_READING) wait_for_input();
  if (next == PGRES_POLLING_WRITING) wait_for_room();
}

// libpq would take an answer of some strangers for a very long one. Looking earlier would take the
// reason away why there is no connection.
bool Wire::speaks_postgres() {
  if (heard_ || PQstatus(client_) == CONNECTION_STARTED) return true;
  char first = 0;
  if (recv(PQsocket(client_), &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1) return true;
  heard_ = true;
  return begins_as_postgres(first);
}

void Wire::attempt_failed(Failure failure) {
  drop_client();
  failures_.push_back(std::move(failure));
  try_next();
}

void Wire::attempt_overdue() {
  if (state_ != State::connecting) return;
  if (server_->env.now() < attempt_until_) return attempt_timer_.set(attempt_until_);
  const auto self = shared_from_this();
  if (client_ == nullptr) {
    return fail({error_at(at_, Errc::unavailable, "its name was not looked up in time")});
  }
  const bool has_host = PQstatus(client_) != CONNECTION_STARTED;
  attempt_failed(
      {error_at(at_,
                Errc::unavailable,
                has_host ? "no answer to the greeting in time: is it a PostgreSQL server?"
                         : "no connection in time")});
}

void Wire::connected() {
  state_ = State::connected;
  ++server_->connections;
  server_->first_host = (server_->first_host + tried_ - 1) % hosts_.size();
  PQsetnonblocking(client_, 1);
  HOLDFAST_ASSERT(PQenterPipelineMode(client_) == 1);
  // Whoever has waited for room once is woken for every bit of it from then on.
  ++socket_number_;
  awaits_input_ = awaits_room_ = false;
  socket_.assign(socket_.release());
  user_.on_connected();
  if (state_ == State::connected) wait_for_input();
}

void Wire::look_at_socket() {
  const int libpqs = PQsocket(client_);
  if (socket_.is_open() && number_of(socket_.native_handle()) == number_of(libpqs)) return;
  const int duplicate = fcntl(libpqs, F_DUPFD_CLOEXEC, 0);
  HOLDFAST_ASSERT(duplicate >= 0);
  ++socket_number_;
  awaits_input_ = awaits_room_ = false;
  boost::system::error_code ignored;
  socket_.close(ignored);
  socket_.assign(duplicate);
  server_->env.watch(duplicate);
}

void Wire::drop_client() {
  ++socket_number_;
  awaits_input_ = awaits_room_ = false;
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (client_ != nullptr) PQfinish(std::exchange(client_, nullptr));
}

void Wire::wait_for_input() {
  if (std::exchange(awaits_input_, true)) return;
  const auto ready = [self = shared_from_this(), this, number = socket_number_](
                         const boost::system::error_code& failed) {
    if (number != socket_number_ || failed) return;
    awaits_input_ = false;
    state_ == State::connected ? input_came() : poll();
  };
  socket_.async_wait(stream_descriptor::wait_read, ready);
}

void Wire::wait_for_room() {
  if (std::exchange(awaits_room_, true)) return;
  const auto ready = [self = shared_from_this(), this, number = socket_number_](
                         const boost::system::error_code& failed) {
    if (number != socket_number_ || failed) return;
    awaits_room_ = false;
    state_ == State::connected ? room_came() : poll();
  };
  socket_.async_wait(stream_descriptor::wait_write, ready);
}

void Wire::input_came() {
  const bool lives = PQconsumeInput(client_) == 1;
  user_.on_input();
  if (state_ != State::connected) return;
  if (!lives || PQstatus(client_) == CONNECTION_BAD) return fail(cause());
  wait_for_input();
}

void Wire::room_came() {
  // libpq wants what it was sent to be read before it sends more.
  if (PQflush(client_) == 1) wait_for_room();
}

void Wire::flush() {
  if (state_ != State::connected || awaits_room_) return;
  if (PQflush(client_) == 1) wait_for_room();
}

Failure Wire::cause() const {
  const bool spoke = !last_words_.empty();
  Error error = failure_of(at_, spoke ? last_words_.c_str() : PQerrorMessage(client_)).error;
  // It was there and knew us.
  error.code = Errc::unavailable;
  return {std::move(error)};
}

// A server that ends an idle connection says so where no statement can be told.
void Wire::on_notice(void* self, const PGresult* notice) {
  const char* const severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == nullptr) return;
  const std::string_view what{severity};
  if (what == "FATAL" || what == "PANIC") {
    static_cast<Wire*>(self)->last_words_ = PQresultErrorMessage(notice);
  }
}

void Wire::give_up(Failure failure) {
  server_->env.post([self = shared_from_this(), failure = std::move(failure)]() mutable {
    if (self->state_ != State::closed) self->fail(std::move(failure));
  });
}

void Wire::fail(Failure failure) {
  const auto self = shared_from_this();
  close();
  user_.on_broken(std::move(failure));
}

void Wire::close() {
  if (std::exchange(state_, State::closed) == State::closed) return;
  drop_client();
}

}  // namespace holdfast::postgres
