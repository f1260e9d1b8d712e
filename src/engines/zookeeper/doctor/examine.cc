#include "engines/zookeeper/doctor/examine.h"

#include <algorithm>
#include <future>
#include <utility>

#include "engines/zookeeper/doctor/four_letter_word.h"
#include "engines/zookeeper/driver/zookeeper_driver.h"
#include "engines/zookeeper/zookeeper_nodes.h"

namespace holdfast::zookeeper {
namespace {

constexpr int kRoundTrips = 7;
constexpr Millis kBriefest{100};
constexpr Millis kLongest = std::chrono::hours{24};

/// One session, used by the thread that examines.
class Examination {
 public:
  Examination(runtime::AsioEnv& env, const std::shared_ptr<ZookeeperPort>& port, Millis timeout)
      : env_{env}, timeout_{timeout} {
    on_env([this, port] { session_ = port->open({.timeout = kLongest}, listener(greeted_)); });
  }
  ~Examination() {
    on_env([this] {
      session_->close();
      session_.reset();
    });
  }
  Examination(const Examination&) = delete;
  Examination& operator=(const Examination&) = delete;

  /// The TTL it got. Zero: it was not granted.
  Millis granted() const {
    auto told = greeted_->get_future();
    return told.wait_for(timeout_) == std::future_status::ready ? told.get() : Millis{0};
  }

  Result<Answer> ask(Request request) {
    const auto answer = std::make_shared<std::promise<Result<Answer>>>();
    auto answered = answer->get_future();
    on_env([this, answer, shared = share(std::move(request))] {
      session_->send(shared, env_.now() + timeout_, [answer](Result<Answer> told) {
        answer->set_value(std::move(told));
      });
    });
    return answered.get();
  }

  /// What a session of that timeout gets. Zero: nothing in time.
  Millis negotiate(const std::shared_ptr<ZookeeperPort>& port, Millis ask) {
    const auto greeted = std::make_shared<std::promise<Millis>>();
    auto told = greeted->get_future();
    std::unique_ptr<ZookeeperSession> session;
    on_env([&] { session = port->open({.timeout = ask}, listener(greeted)); });
    const bool in_time = told.wait_for(timeout_) == std::future_status::ready;
    on_env([&] {
      session->close();
      session.reset();
    });
    return in_time ? told.get() : Millis{0};
  }

 private:
  using Greeted = std::shared_ptr<std::promise<Millis>>;

  static OnEvent listener(Greeted greeted) {
    return [greeted, once = false](const SessionEvent& event) mutable {
      if (event.kind != SessionEvent::Kind::connected || std::exchange(once, true)) return;
      greeted->set_value(event.timeout);
    };
  }

  template <class Work>
  void on_env(Work work) {
    std::promise<void> done;
    env_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }

  runtime::AsioEnv& env_;
  Millis timeout_;
  Greeted greeted_{std::make_shared<std::promise<Millis>>()};
  std::unique_ptr<ZookeeperSession> session_;
};

ServerFacts read_server(const core::Endpoint& endpoint, Duration timeout) {
  ServerFacts facts{.endpoint = endpoint.text()};
  const auto told = four_letter_word(endpoint, "srvr", timeout);
  if (!told) {
    facts.silence = told.error().message;
    return facts;
  }
  const auto after = [&told](std::string_view what) {
    const std::size_t at = told->find(what);
    if (at == std::string::npos) return std::string{};
    const std::size_t begin = at + what.size();
    return told->substr(begin, told->find_first_of(",\n", begin) - begin);
  };
  facts.mode = after("Mode: ");
  facts.version = after("Zookeeper version: ");
  const auto conf = four_letter_word(endpoint, "conf", timeout);
  const auto monitor = four_letter_word(endpoint, "mntr", timeout);
  for (const Result<std::string>* const one : {&told, &conf, &monitor}) {
    if (*one && (*one)->find("not in the whitelist") != std::string::npos) {
      facts.words_refused = true;
    }
  }
  if (conf) facts.conf = ServerWords::read(*conf);
  if (monitor) facts.monitor = ServerWords::read(*monitor);
  return facts;
}

/// Whether it was let to; what else went wrong is an error.
Result<bool> allowed(EnsembleFacts& facts, const char* what, const Result<Answer>& answer) {
  if (answer) return true;
  if (answer.error().code != Errc::denied) return Unexpected{answer.error()};
  facts.refusals.push_back({what, answer.error().message});
  return false;
}

/// What locks do: create a node below the prefix, look who is there, and delete it.
Result<void> try_rights(Examination& examination, EnsembleFacts& facts, const std::string& probe) {
  const auto created = examination.ask(Create{.path = probe, .kind = Create::Kind::ephemeral});
  const auto may_create = allowed(facts, "create", created);
  if (!may_create) return Unexpected{may_create.error()};
  const auto listed = allowed(facts, "read", examination.ask(List{.path = parent_of(probe)}));
  if (!listed) return Unexpected{listed.error()};
  if (!*may_create) return {};
  std::vector<Duration> round_trips;
  for (int i = 0; i < kRoundTrips; ++i) {
    const TimePoint sent_at = BootClock::now();
    const auto written = examination.ask(Write{.path = probe});
    if (!written && written.error().code != Errc::denied) return Unexpected{written.error()};
    round_trips.push_back(BootClock::now() - sent_at);
  }
  std::ranges::sort(round_trips);
  facts.round_trip = round_trips[round_trips.size() / 2];
  const auto erased = allowed(facts, "delete", examination.ask(Erase{.path = probe}));
  if (!erased) return Unexpected{erased.error()};
  return {};
}

/// The nodes of the prefix, which are created if need be. Those that were, the last one first.
Result<std::vector<std::string>> make_prefix(Examination& examination,
                                             EnsembleFacts& facts,
                                             const std::string& prefix) {
  std::vector<std::string> made;
  for (std::size_t at = 0; at != std::string::npos && !prefix.empty();) {
    at = prefix.find('/', at + 1);
    const auto created = examination.ask(Create{.path = prefix.substr(0, at)});
    const auto may = allowed(facts, "create", created);
    if (!may) return Unexpected{may.error()};
    if (!*may) break;
    if (created->verdict == Verdict::done) made.insert(made.begin(), prefix.substr(0, at));
  }
  return made;
}

}  // namespace

Result<EnsembleFacts> examine(runtime::AsioEnv& env, const ZookeeperUrl& url) {
  const ZookeeperTarget& target = url.target;
  const std::shared_ptr<ZookeeperPort> port = std::make_shared<ZookeeperDriver>(env, target);
  const Nodes nodes{url.prefix};
  EnsembleFacts facts{.prefix = nodes.prefix(), .user = target.user};
  facts.path = {.stays_here = std::ranges::all_of(target.endpoints, core::is_here),
                .authenticated = !target.user.empty(),
                .open_nodes = target.acl == Acl::open};
  {
    Examination examination{env, port, url.timeout};
    const auto heard = examination.ask(Exists{.path = "/"});
    if (!heard && heard.error().code != Errc::denied) return Unexpected{heard.error()};
    const auto made = make_prefix(examination, facts, nodes.prefix());
    if (!made) return Unexpected{made.error()};
    if (facts.refusals.empty()) {
      const std::string probe = nodes.beside("probe-") + std::to_string(env.draw());
      if (auto tried = try_rights(examination, facts, probe); !tried) {
        return Unexpected{tried.error()};
      }
    }
    for (const std::string& path : *made) {
      static_cast<void>(examination.ask(Erase{.path = path}));
    }
    facts.ttl_max = examination.granted();
    facts.ttl_min = examination.negotiate(port, kBriefest);
  }
  for (const core::Endpoint& endpoint : target.endpoints) {
    facts.asked.push_back(read_server(endpoint, url.timeout));
  }
  return facts;
}

}  // namespace holdfast::zookeeper
