#include "engines/etcd/doctor/examine.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/wall_clock.h"
#include "engines/etcd/doctor/metrics_page.h"
#include "engines/etcd/etcd_calls.h"

namespace holdfast::etcd {
namespace {

constexpr int kRoundTrips = 7;
constexpr Seconds kBriefest{1};

/// The calls of one examination, one after the other.
class Examination {
 public:
  Examination(runtime::AsioEnv& env, std::shared_ptr<EtcdDriver> driver, Millis timeout)
      : env_{env}, driver_{std::move(driver)}, timeout_{timeout} {}

  /// `call` is begun on the Env's thread, with the deadline and the callback.
  template <class Answer, class Call>
  Result<Answer> ask(Call call) {
    const auto answer = std::make_shared<std::promise<Result<Answer>>>();
    auto answered = answer->get_future();
    env_.post([this, call = std::move(call), answer] {
      call(*driver_, env_.now() + timeout_, [answer](Result<Answer> told) {
        answer->set_value(std::move(told));
      });
    });
    return answered.get();
  }

  Result<TxnAnswer> commit(Txn txn) {
    const SharedTxn shared = share(std::move(txn));
    return ask<TxnAnswer>([shared](EtcdDriver& driver, TimePoint by, auto on_answer) {
      driver.commit(shared, by, std::move(on_answer));
    });
  }

  /// Whether the cluster lets us watch, and what it says if not. Silence is no refusal.
  std::string watch_refusal(const KeyRange& keys) {
    const auto heard = std::make_shared<std::promise<std::string>>();
    auto told = heard->get_future();
    const auto id = std::make_shared<WatchId>();
    env_.post([this, keys, heard, id] {
      *id = driver_->watch({.keys = keys}, [heard, once = false](const WatchNews& news) mutable {
        if (std::exchange(once, true)) return;
        heard->set_value(news.kind == WatchNews::Kind::refused ? news.text : std::string{});
      });
    });
    const bool in_time = told.wait_for(timeout_) == std::future_status::ready;
    env_.post([driver = driver_, id] { driver->unwatch(*id); });
    return in_time ? told.get() : std::string{};
  }

  std::uint64_t draw() {
    std::promise<std::uint64_t> drawn;
    auto number = drawn.get_future();
    env_.post([&] { drawn.set_value(env_.draw()); });
    return number.get();
  }

 private:
  runtime::AsioEnv& env_;
  std::shared_ptr<EtcdDriver> driver_;
  Millis timeout_;
};

Path path_to(const EtcdTarget& target) {
  const bool certificate = target.tls && !target.tls->cert_file.empty();
  return {.stays_here = std::ranges::all_of(target.endpoints, core::is_here),
          .encrypted = target.tls.has_value(),
          .authenticated = !target.user.empty() || certificate};
}

MemberFacts read_member(Examination& examination, const EtcdUrl& url, std::size_t number) {
  const Endpoint& endpoint = url.target.endpoints[number];
  MemberFacts facts{.endpoint = endpoint.text()};
  const auto status =
      examination.ask<MemberStatus>([number](EtcdDriver& driver, TimePoint by, auto on_answer) {
        driver.status(number, by, std::move(on_answer));
      });
  if (!status) {
    facts.silence = status.error().message;
    return facts;
  }
  facts.version = status->version;
  facts.id = status->header.member;
  facts.leader = status->leader;
  facts.is_learner = status->role == MemberStatus::Role::learner;
  facts.database_bytes = status->db_size;
  facts.read_at = static_cast<double>(wall_ms()) / 1e3;
  if (const auto page = metrics_page(url.target, endpoint, url.timeout)) {
    facts.metrics = Metrics::read(*page);
  }
  return facts;
}

void read_cluster(Examination& examination, ClusterFacts& facts) {
  const auto members =
      examination.ask<std::vector<Member>>([](EtcdDriver& driver, TimePoint by, auto on_answer) {
        driver.members(by, std::move(on_answer));
      });
  if (members) {
    facts.voters = static_cast<std::size_t>(std::ranges::count(
        *members, MemberStatus::Role::voter, [](const Member& member) { return member.role; }));
    for (const Member& member : *members) {
      facts.listed.push_back({member.id, member.name, member.client_urls});
    }
  }
  const auto alarms = examination.ask<std::vector<ClusterAlarm>>(
      [](EtcdDriver& driver, TimePoint by, auto on_answer) {
        driver.alarms(by, std::move(on_answer));
      });
  if (!alarms) return;
  for (const ClusterAlarm& alarm : *alarms) {
    if (alarm.kind == ClusterAlarm::Kind::none) continue;
    const bool full = alarm.kind == ClusterAlarm::Kind::no_space;
    facts.alarms.push_back({alarm.member, full ? Alarm::Kind::no_space : Alarm::Kind::corrupt});
  }
}

void refuse(ClusterFacts& facts, const char* what, const Error& error) {
  if (error.code == Errc::denied) facts.refusals.push_back({what, error.message});
}

/// What locks do: look, take a lease, put a key under it, watch, and let the lease go.
Result<void> try_rights(Examination& examination, ClusterFacts& facts) {
  const std::string key = facts.prefix + "\x01probe";
  std::vector<Duration> round_trips;
  for (int i = 0; i < kRoundTrips; ++i) {
    Txn look;
    look.then.push_back(Range{.keys = {key}});
    const TimePoint sent_at = BootClock::now();
    const auto seen = examination.commit(std::move(look));
    round_trips.push_back(BootClock::now() - sent_at);
    if (seen) {
      facts.revision = seen->header.revision;
      continue;
    }
    if (seen.error().code != Errc::denied) return Unexpected{seen.error()};
    refuse(facts, "read", seen.error());
    break;
  }
  std::ranges::sort(round_trips);
  facts.round_trip = round_trips[round_trips.size() / 2];

  const LeaseId lease = fresh_lease(examination.draw());
  const auto granted =
      examination.ask<LeaseAnswer>([lease](EtcdDriver& driver, TimePoint by, auto on_answer) {
        driver.grant(lease, kBriefest, by, std::move(on_answer));
      });
  if (!granted) {
    refuse(facts, "lease", granted.error());
    return {};
  }
  facts.ttl_min = granted->ttl;
  Txn write;
  write.then.push_back(Put{.key = key, .lease = lease});
  const auto written = examination.commit(std::move(write));
  if (!written) refuse(facts, "write", written.error());
  const std::string refusal = examination.watch_refusal(starting_with(facts.prefix));
  if (!refusal.empty()) facts.refusals.push_back({"watch", refusal});
  static_cast<void>(
      examination.ask<LeaseAnswer>([lease](EtcdDriver& driver, TimePoint by, auto on_answer) {
        driver.revoke(lease, by, std::move(on_answer));
      }));
  return {};
}

}  // namespace

Result<ClusterFacts> examine(runtime::AsioEnv& env,
                             const std::shared_ptr<EtcdDriver>& driver,
                             const EtcdUrl& url) {
  Examination examination{env, driver, url.timeout};
  ClusterFacts facts{.prefix = url.prefix, .user = url.target.user, .path = path_to(url.target)};
  if (auto tried = try_rights(examination, facts); !tried) return Unexpected{tried.error()};
  for (std::size_t i = 0; i < url.target.endpoints.size(); ++i) {
    facts.asked.push_back(read_member(examination, url, i));
  }
  read_cluster(examination, facts);
  return facts;
}

}  // namespace holdfast::etcd
