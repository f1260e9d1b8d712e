#include "engines/etcd/driver/etcd_driver.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engines/etcd/driver/keep_alive_line.h"
#include "engines/etcd/driver/requests.h"
#include "engines/etcd/driver/watch_line.h"

namespace holdfast::etcd {

struct EtcdDriver::Core {
  Core(Env& env_in,
       const EtcdTarget& target,
       const Credentials& credentials,
       const EtcdDriverSettings& settings)
      : env{env_in},
        loop{env},
        route{env, target, credentials, settings, loop, calls},
        requests{env, route, loop, calls},
        keep_alives{env, route, loop, calls},
        watches{env, route, loop, calls, target.connect_timeout} {}

  // Cancelled before the loop waits for them.
  ~Core() {
    for (Cancellable& call : calls) call.cancel();
  }

  Env& env;
  Cancellables calls;
  CompletionLoop loop;
  Route route;
  Requests requests;
  KeepAliveLine keep_alives;
  WatchLine watches;
};

namespace {

/// Hands answer or error over, the answer made of what was on the wire.
template <class OnAnswer, class Make>
struct Hand {
  OnAnswer on_answer;
  Make make;

  template <class Wire>
  void operator()(Wire& answer) {
    on_answer(make(answer));
  }
  void operator()(const Error& error) { on_answer(Unexpected{error}); }
};
template <class OnAnswer, class Make>
Hand(OnAnswer, Make) -> Hand<OnAnswer, Make>;

/// The same for leases, where one error says that there is no such lease, or is one already.
template <class Make>
struct HandLease {
  OnLease on_answer;
  Make make;
  const char* none;

  template <class Wire>
  void operator()(Wire& answer) {
    on_answer(LeaseAnswer{.header = from_wire(answer.header()), .ttl = Seconds{make(answer)}});
  }
  void operator()(const Error& error) {
    if (error.message.find(none) != std::string::npos) return on_answer(LeaseAnswer{});
    on_answer(Unexpected{error});
  }
};
template <class Make>
HandLease(OnLease, Make, const char*) -> HandLease<Make>;

constexpr const char* kNoLease = "requested lease not found";
constexpr const char* kLeaseExists = "lease already exists";

MemberStatus::Role role_of(bool is_learner) {
  return is_learner ? MemberStatus::Role::learner : MemberStatus::Role::voter;
}

MemberStatus status_of(const wire::StatusResponse& answer) {
  return {.header = from_wire(answer.header()),
          .version = answer.version(),
          .db_size = answer.db_size(),
          .db_size_in_use = answer.db_size_in_use(),
          .leader = answer.leader(),
          .raft_index = answer.raft_index(),
          .applied_index = answer.raft_applied_index(),
          .errors = {answer.errors().begin(), answer.errors().end()},
          .role = role_of(answer.is_learner())};
}

std::vector<Member> members_of(const wire::MemberListResponse& answer) {
  std::vector<Member> members;
  for (const wire::Member& member : answer.members()) {
    members.push_back({.id = member.id(),
                       .name = member.name(),
                       .client_urls = {member.client_urls().begin(), member.client_urls().end()},
                       .role = role_of(member.is_learner())});
  }
  return members;
}

std::vector<ClusterAlarm> alarms_of(const wire::AlarmResponse& answer) {
  std::vector<ClusterAlarm> alarms;
  for (const wire::AlarmMember& alarm : answer.alarms()) {
    const auto kind = alarm.alarm() == 1   ? ClusterAlarm::Kind::no_space
                      : alarm.alarm() == 2 ? ClusterAlarm::Kind::corrupt
                                           : ClusterAlarm::Kind::none;
    alarms.push_back({alarm.member_id(), kind});
  }
  return alarms;
}

}  // namespace

Result<std::shared_ptr<EtcdDriver>> EtcdDriver::create(Env& env,
                                                       const EtcdTarget& target,
                                                       EtcdDriverSettings settings) {
  const auto credentials = make_credentials(target);
  if (!credentials) return Unexpected{credentials.error()};
  try {
    auto core = std::make_shared<Core>(env, target, *credentials, settings);
    return std::shared_ptr<EtcdDriver>{new EtcdDriver{std::move(core)}};
  } catch (const std::system_error& error) {
    return Unexpected{Error{Errc::io_error, std::string{"no thread: "} + error.what()}};
  }
}

EtcdDriver::EtcdDriver(std::shared_ptr<Core> core) : core_{std::move(core)} {}

EtcdDriver::~EtcdDriver() {
  core_->loop.close();
  Env& env = core_->env;
  // Not here: a callback of its own may be running, or this may be another thread. Quietly: this
  // may be the end of the Env, which unwinds what is left.
  env.post_quietly([core = std::move(core_)] {});
}

void EtcdDriver::commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) {
  const auto make = [](wire::TxnResponse& answer) { return from_wire(answer); };
  core_->requests.send<wire::TxnResponse>(
      kTxnMethod, to_wire(*txn), answer_by, Hand{std::move(on_answer), make});
}

void EtcdDriver::grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) {
  wire::LeaseGrantRequest request;
  request.set_id(lease.number);
  request.set_ttl(ttl.count());
  const auto make = [](const wire::LeaseGrantResponse& answer) { return answer.ttl(); };
  core_->requests.send<wire::LeaseGrantResponse>(
      kGrantMethod, request, answer_by, HandLease{std::move(on_answer), make, kLeaseExists});
}

void EtcdDriver::keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  core_->keep_alives.keep_alive(lease, answer_by, std::move(on_answer));
}

void EtcdDriver::revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  wire::LeaseRevokeRequest request;
  request.set_id(lease.number);
  const auto make = [](const wire::LeaseRevokeResponse&) { return 1; };
  core_->requests.send<wire::LeaseRevokeResponse>(
      kRevokeMethod, request, answer_by, HandLease{std::move(on_answer), make, kNoLease});
}

void EtcdDriver::look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  wire::LeaseTimeToLiveRequest request;
  request.set_id(lease.number);
  // What is left is rounded down, and so nothing in the last second.
  const auto make = [](const wire::LeaseTimeToLiveResponse& answer) {
    return answer.granted_ttl() == 0 ? 0 : std::max<std::int64_t>(answer.ttl(), 1);
  };
  core_->requests.send<wire::LeaseTimeToLiveResponse>(
      kTimeToLiveMethod, request, answer_by, HandLease{std::move(on_answer), make, kNoLease});
}

WatchId EtcdDriver::watch(Watch watch, OnWatch on_watch) {
  return core_->watches.watch(std::move(watch), std::move(on_watch));
}

void EtcdDriver::unwatch(WatchId id) { core_->watches.unwatch(id); }

void EtcdDriver::status(std::size_t endpoint, TimePoint answer_by, OnStatus on_answer) {
  core_->requests.send_to<wire::StatusResponse>(endpoint,
                                                kStatusMethod,
                                                wire::StatusRequest{},
                                                answer_by,
                                                Hand{std::move(on_answer), &status_of});
}

void EtcdDriver::members(TimePoint answer_by, OnMembers on_answer) {
  core_->requests.send<wire::MemberListResponse>(kMemberListMethod,
                                                 wire::MemberListRequest{},
                                                 answer_by,
                                                 Hand{std::move(on_answer), &members_of});
}

void EtcdDriver::alarms(TimePoint answer_by, OnAlarms on_answer) {
  core_->requests.send<wire::AlarmResponse>(
      kAlarmMethod, wire::AlarmRequest{}, answer_by, Hand{std::move(on_answer), &alarms_of});
}

EtcdDriver::Stats EtcdDriver::stats() const {
  return {.requests = core_->requests.sent(),
          .keep_alives = core_->keep_alives.written(),
          .watches = core_->watches.created(),
          .visits = core_->route.visit()};
}

}  // namespace holdfast::etcd
