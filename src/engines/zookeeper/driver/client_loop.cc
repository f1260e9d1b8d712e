#include "engines/zookeeper/driver/client_loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "engines/zookeeper/driver/failure.h"

namespace holdfast::zookeeper {
namespace {

using boost::asio::posix::stream_descriptor;

/// What the client does in one turn at most; the loop has others to serve.
constexpr int kAnswersPerTurn = 256;
/// Which part of a session's time its pings are late. They are due after a third.
constexpr int kPingDelay = 12;
/// What the client calls the state of a connection that was lost.
constexpr int kNoConnection = 0;

// The client's callback has no context, but is called inside the client's calls alone.
thread_local std::string last_complaint;

void on_log(const char* message) {
  if (std::strstr(message, "errno=") != nullptr) last_complaint = message;
}

void on_session_event(zhandle_t*, int, int, const char*, void*) {}

void on_auth(int, const void*) {}

/// A socket that nobody will ever say anything on.
int dead_socket() {
  static const int dead = [] {
    int ends[2];
    HOLDFAST_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    close(ends[1]);
    return ends[0];
  }();
  return dead;
}

bool has_asked(int state) { return state == ZOO_ASSOCIATING_STATE || state == ZOO_CONNECTED_STATE; }

bool has_socket(int state) { return state == ZOO_CONNECTING_STATE || has_asked(state); }

Duration duration_of(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

Duration attempt_limit(Duration connect_timeout, Millis session_timeout, std::uint32_t rounds) {
  constexpr std::uint32_t kMostDoublings = 10;
  const Duration quarter = Duration{session_timeout} / 4;
  return std::min(connect_timeout, quarter * (1 << std::min(rounds, kMostDoublings)));
}

ClientLoop::ClientLoop(runtime::AsioEnv& env, Patience patience)
    : EndsWithContext{env.context()},
      env_{env},
      patience_{patience},
      wire_{env.context()},
      timer_{env, [this] { turn(0); }} {}

ClientLoop::~ClientLoop() { HOLDFAST_ASSERT(client_ == nullptr); }

void ClientLoop::begin(const Opening& opening) {
  HOLDFAST_ASSERT(client_ == nullptr);
  server_ = opening.servers;
  clientid_t id{};
  if (opening.resume) {
    id.client_id = opening.resume->id.number;
    const std::string& password = opening.resume->password;
    std::memcpy(id.passwd, password.data(), std::min(password.size(), sizeof id.passwd));
  }
  client_ = zookeeper_init2(opening.servers.c_str(),
                            &on_session_event,
                            static_cast<int>(opening.timeout.count()),
                            opening.resume ? &id : nullptr,
                            nullptr,
                            ZOO_NO_LOG_CLIENTENV,
                            &on_log);
  HOLDFAST_ASSERT(client_ != nullptr);
  zoo_set_servers_resolution_delay(client_, -1);
  const std::string& credentials = opening.credentials;
  if (!credentials.empty()) {
    const int size = static_cast<int>(credentials.size());
    zoo_add_auth(client_, "digest", credentials.data(), size, &on_auth, nullptr);
  }
  turn(0);
}

void ClientLoop::end_client() {
  if (client_ == nullptr) return;
  // Connected, it would end the session, and wait for the server.
  if (wire_.is_open()) {
    dup3(dead_socket(), descriptor_, O_CLOEXEC);
    zookeeper_process(client_, ZOOKEEPER_READ);
    close_wire();
  }
  connected_ = false;
  zookeeper_close(std::exchange(client_, nullptr));
}

SessionKey ClientLoop::key() const {
  const clientid_t* const id = zoo_client_id(client_);
  return {.id = {id->client_id}, .password = std::string(id->passwd, sizeof id->passwd)};
}

Millis ClientLoop::timeout() const { return Millis{zoo_recv_timeout(client_)}; }

void ClientLoop::turn(int events) {
  if (client_ == nullptr) return;
  const auto self = shared_from_this();
  if (!gives_up(env_.now()) && events != 0) process(events);
  arm();
  turned();
}

void ClientLoop::gather(int on) {
  if (wire_.is_open()) setsockopt(wire_.native_handle(), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

void ClientLoop::after_calls() {
  if (client_ != nullptr) arm();
}

bool ClientLoop::gives_up(TimePoint now) {
  if (!wire_.is_open()) return false;
  if (!connected_ && now >= attempt_until_) {
    cut(error_at(server_,
                 Errc::unavailable,
                 "no answer to a connection request in time: is it a ZooKeeper server?"));
    return true;
  }
  if (connected_ && now >= silent_until()) {
    cut(error_at(server_, Errc::unavailable, "no answer in time"));
    return true;
  }
  return false;
}

void ClientLoop::process(int events) {
  for (int i = 0; i < kAnswersPerTurn; ++i) {
    const bool reads = (events & ZOOKEEPER_READ) != 0;
    if (reads && zoo_state(client_) == ZOO_ASSOCIATING_STATE && !speaks_zookeeper()) {
      return cut(error_at(server_, Errc::corrupt, "it does not answer as a ZooKeeper server does"));
    }
    const int code = call([&] { return zookeeper_process(client_, events); });
    if (code != ZOK || !reads || !has_socket(zoo_state(client_))) return;
    // What else is there is told by the next wait.
    if (!expects_answers()) return;
    events = ZOOKEEPER_READ;
  }
}

// The client would take any bytes for an answer.
bool ClientLoop::speaks_zookeeper() {
  std::array<char, 8> head{};
  const ssize_t got = recv(descriptor_, head.data(), head.size(), MSG_PEEK | MSG_DONTWAIT);
  return got <= 0 || begins_as_zookeeper({head.data(), static_cast<std::size_t>(got)});
}

void ClientLoop::arm() {
  if (is_unrecoverable(client_) != ZOK) return;
  if (connected_ && zoo_state(client_) == ZOO_NOTCONNECTED_STATE) scrub();
  int descriptor = -1;
  int interest = 0;
  timeval within{};
  const int code =
      call([&] { return zookeeper_interest(client_, &descriptor, &interest, &within); });
  if (is_unrecoverable(client_) != ZOK) return;
  const TimePoint now = env_.now();
  has_output_ = (interest & ZOOKEEPER_WRITE) != 0;
  if (code != ZOK) {
    // The next server of this round.
    timer_.set(now);
  } else if (descriptor < 0) {
    timer_.set(now + backoff_delay(patience_.backoff, rounds_++, env_.draw()));
  } else {
    if (!wire_.is_open()) open_wire(descriptor);
    wait_for_input();
    if (has_output_) wait_for_room();
    // A moment late: whoever renews the session as often as the client would spares it the ping.
    timer_.set(now + duration_of(within) + Duration{timeout()} / kPingDelay);
    timer_.set(connected_ ? silent_until() : attempt_until_);
  }
}

// When a call finds the connection broken, the client forgets it and keeps what was under way for
// the next, half a request included. The next is broken before it has begun.
void ClientLoop::scrub() {
  close_wire();
  const Error why = error_at(server_, Errc::unavailable, kClosed);
  for (int i = 0; i < 2; ++i) {
    int descriptor = -1;
    int interest = 0;
    timeval within{};
    const int code = zookeeper_interest(client_, &descriptor, &interest, &within);
    if (code == ZOK && descriptor < 0) continue;
    if (code == ZOK) {
      dup3(dead_socket(), descriptor, O_CLOEXEC);
      zookeeper_process(client_, ZOOKEEPER_READ);
    }
    break;
  }
  connected_ = false;
  disconnected(Was::connected, why);
}

void ClientLoop::cut(Error why) {
  if (!wire_.is_open()) return;
  cut_for_ = std::move(why);
  dup3(dead_socket(), descriptor_, O_CLOEXEC);
  call([&] { return zookeeper_process(client_, ZOOKEEPER_READ); });
  cut_for_.reset();
}

int ClientLoop::take_connection() {
  if (!connected_ || has_output_ || !wire_.is_open()) return -1;
  ++wire_number_;
  awaits_input_ = awaits_room_ = false;
  const int taken = wire_.release();
  dup3(dead_socket(), descriptor_, O_CLOEXEC);
  zookeeper_process(client_, ZOOKEEPER_READ);
  connected_ = false;
  return taken;
}

int ClientLoop::call(const std::function<int()>& calling) {
  const int before = zoo_state(client_);
  const TimePoint called_at = env_.now();
  last_complaint.clear();
  const int code = calling();
  note(before, called_at, code);
  return code;
}

void ClientLoop::note(int before, TimePoint called_at, int code) {
  const int state = zoo_state(client_);
  if (!has_asked(before) && has_asked(state)) asked_at_ = called_at;
  if (state == ZOO_CONNECTED_STATE && !connected_) {
    connected_ = was_connected_ = true;
    rounds_ = 0;
    renew_wire();
    return connected();
  }
  const bool had_none = !wire_.is_open() && (code == ZOK || code == ZNOTHING);
  if (has_socket(state) || had_none) return;
  const Error why = cause(before);
  close_wire();
  const Was was = std::exchange(connected_, false) ? Was::connected : Was::connecting;
  if (state == ZOO_EXPIRED_SESSION_STATE) return expired();
  if (state == ZOO_AUTH_FAILED_STATE) {
    return refused(error_at(server_, Errc::denied, "it does not know digest authentication"));
  }
  disconnected(was, why);
}

Error ClientLoop::cause(int before) const {
  if (cut_for_) return *cut_for_;
  std::string what = cause_in(last_complaint);
  if (what.empty()) what = "the connection broke";
  // A server may hang up on us before it has read what we are about to say.
  const bool hung_up = before == ZOO_CONNECTING_STATE && what == kClosed;
  if (before == ZOO_ASSOCIATING_STATE || hung_up) {
    what +=
        " without an answer: it serves nobody now, as without a quorum, or has too many "
        "connections from here (maxClientCnxns)";
  }
  const std::string server = server_in(last_complaint);
  return error_at(server.empty() ? server_ : server, Errc::unavailable, what);
}

void ClientLoop::open_wire(int descriptor) {
  const int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  HOLDFAST_ASSERT(duplicate >= 0);
  descriptor_ = descriptor;
  wire_.assign(duplicate);
  env_.watch(duplicate);
  ++wire_number_;
  server_ = zoo_get_current_server(client_);
  const Duration limit = was_connected_
                             ? attempt_limit(patience_.connect_timeout, timeout(), rounds_)
                             : patience_.connect_timeout;
  attempt_until_ = env_.now() + limit;
}

// Whoever has waited for room once is woken for every bit of it from then on.
void ClientLoop::renew_wire() {
  ++wire_number_;
  awaits_input_ = awaits_room_ = false;
  wire_.assign(wire_.release());
}

void ClientLoop::close_wire() {
  if (!wire_.is_open()) return;
  ++wire_number_;
  awaits_input_ = awaits_room_ = false;
  boost::system::error_code ignored;
  wire_.close(ignored);
}

void ClientLoop::wait_for_input() {
  if (std::exchange(awaits_input_, true)) return;
  const auto ready = [self = shared_from_this(), this, number = wire_number_](
                         const boost::system::error_code& failed) {
    if (number != wire_number_ || failed) return;
    awaits_input_ = false;
    turn(ZOOKEEPER_READ);
  };
  wire_.async_wait(stream_descriptor::wait_read, ready);
}

void ClientLoop::wait_for_room() {
  if (std::exchange(awaits_room_, true)) return;
  const auto ready = [self = shared_from_this(), this, number = wire_number_](
                         const boost::system::error_code& failed) {
    if (number != wire_number_ || failed) return;
    awaits_room_ = false;
    turn(ZOOKEEPER_WRITE);
  };
  wire_.async_wait(stream_descriptor::wait_write, ready);
}

}  // namespace holdfast::zookeeper
